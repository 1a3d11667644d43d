/** docs/reference/expectations.md: the table for people, expected and measured side by side. */
import { diskModes, type DiskMode } from '../disk-modes/index.ts';
import { minorOf } from '../kubernetes-versions.ts';
import { expectationOf } from '../experiment/expectation/expectations.ts';
import { shortTimersMs, type Scenario } from '../experiment/scenario.ts';
import { eventOf, scenarioOfLine, type RunLine } from './runs.ts';
import { racesIn, type Race } from './races.ts';
import { racesSection, raceText } from './races-section.ts';
import { cellKey, raceKey } from './scenario-key.ts';
import { expectedCellsOf, type ExpectedCell, type Table } from './table.ts';
import { markdownTable } from '../markdown-table.ts';

const opening = `# What is expected, and what was measured

What is expected of each fault, remedy and disk, and what came? Each cell says which verdicts are expected of a fault, a remedy and a disk, and what real runs came to. What follows from the way Kubernetes and the disk work is *reasoned*: written down from Kubernetes' source before the runs ([expectations.json](../../data/expectations.json)), and not edited to fit a result. Where chance decides, reasoning only says what can come; expected is then what was [counted](#races-counted), and where nobody counted the cell is **open**: it expects nothing, and a run of it says so (exit code 5). Where a result, or a rule of [the expected set](scenarios.md), differs, the difference is listed with a decision note. This page is made by \`npx forcedetach expectations --note\` from [measurements.jsonl](../../data/measurements.jsonl), one line a run, and a test holds it to its data.

Times are seconds after the fault with stock timers: **N** the node is declared lost (40–60), **E** the pod is evicted (N + 300), **R** the remedy, **K** a restart of the controller manager and **L** the 15–20 s without a leader. Verdicts are explained [here](verdicts.md), disks [here](drivers.md). A result is followed by the number of fault events and their Kubernetes; *short* marks timers that were shortened. Sources are files below Kubernetes' \`pkg/controller\` (1.34) and issues; § numbers are those of the matrix that this project began with. What limits eviction in large clusters is [on a page of their own](../explanation/large-clusters.md).
`;

const note = `## The model

The built-in model is held against the same expectations by \`test/contract\`; its predictions are never counted as measured.
`;

export const expectationsPagePath = new URL(
  '../../docs/reference/expectations.md',
  import.meta.url,
);

/** What cells are filled from. */
interface Counted {
  readonly cells: readonly ExpectedCell[];
  /** By `cellKey`. */
  readonly lines: ReadonlyMap<string, readonly RunLine[]>;
  readonly races: ReadonlyMap<string, Race>;
}

export function renderPage(table: Table, lines: readonly RunLine[]): string {
  const measured = {
    cells: expectedCellsOf(table),
    lines: Map.groupBy(
      lines.filter(({ outcome }) => outcome.verdict !== 'inconclusive'),
      (line) => cellKey(scenarioOfLine(line)),
    ),
    races: racesIn(lines),
  };
  const faults = table.faults.map(({ id, name, cells: rows }) => {
    const told = rows.map(({ remedy, secondMountAt, why, source }) => {
      const results = diskModes.map((disk) => result(measured, `${id}/${remedy}`, disk));
      return { head: `\`${remedy}\``, secondMountAt, why, source, results };
    });
    return `## ${name}\n\n${tableOf('Remedy', told)}`;
  });
  const exceptions = table.exceptions.map((each) => {
    const { id, name, secondMountAt, why, source, notRunnable } = each;
    const results = diskModes.map((disk) => result(measured, id, disk));
    const reason = notRunnable === undefined ? why : `${why} (not runnable: ${notRunnable})`;
    return { head: name, secondMountAt, why: reason, source, results };
  });
  return [
    opening,
    pathsOf(table),
    ...faults,
    `## Exceptions\n\n${tableOf('Where', exceptions)}`,
    racesSection(measured.races.values()),
    differencesOf(table),
    note,
  ].join('\n');
}

interface RowTold {
  readonly head: string;
  readonly secondMountAt: string;
  readonly why: string;
  readonly source: string;
  readonly results: readonly string[];
}

function tableOf(first: string, rows: readonly RowTold[]): string {
  const heads = [first, 'Second mount', ...diskModes, 'Why', 'Source'];
  const lines = rows.map((row) => {
    const { head, secondMountAt, results, why, source } = row;
    return [head, secondMountAt, ...results, why, source];
  });
  return `${markdownTable(heads, lines)}\n`;
}

/** Expected, then measured; an unexpected result stands out. */
function result({ cells, lines, races }: Counted, id: string, disk: DiskMode): string {
  const cell = cells.find((each) => each.id === id && each.disk === disk);
  if (cell === undefined) return '–';
  const reasoned = cell.verdicts.join(' or ');
  const { scenario } = cell;
  if (scenario === undefined) return `${reasoned}; no run can show it`;
  if (expectationOf(scenario).isRace) {
    const [stock, short] = [scenario, shortened(scenario)].map((each) =>
      raceText(races.get(raceKey(each))),
    ) as [string, string];
    return `race (reasoned: ${reasoned}): ${stock}; *short*: ${short}`;
  }
  const found = lines.get(cellKey(scenario)) ?? [];
  if (found.length === 0) return `${reasoned}; not measured yet`;
  return `${reasoned}; measured ${summed(found, cell)}`;
}

const shortened = (scenario: Scenario): Scenario => ({ ...scenario, ...shortTimersMs });

/** Volumes under one fault event with one verdict are one result. */
function summed(found: readonly RunLine[], { verdicts }: ExpectedCell): string {
  const minors = new Map<string, string[]>();
  const events = Map.groupBy(found, (line) => `${eventOf(line)} ${line.outcome.verdict}`);
  for (const [line] of events.values()) {
    if (line === undefined) continue;
    const { basis, versions } = line;
    const { verdict } = line.outcome;
    const surprise = verdicts.includes(verdict) ? '' : ' NOT expected';
    const text = `**${verdict}**${basis === 'shortened' ? ' *short*' : ''}${surprise}`;
    minors.set(text, [...(minors.get(text) ?? []), minorOf(versions.kubernetes)]);
  }
  return [...minors].map(([text, runs]) => `${text} (${onMinors(runs)})`).join(', ');
}

/** `2 on 1.34`, `3: 2 on 1.34, 1 on 1.37`. */
function onMinors(runs: readonly string[]): string {
  const parts = [...Map.groupBy(runs.toSorted(), (minor) => minor)].map(
    ([minor, all]) => `${all.length} on ${minor}`,
  );
  return parts.length === 1 ? parts.join('') : `${runs.length}: ${parts.join(', ')}`;
}

function pathsOf({ paths }: Table): string {
  const rows = paths.map(({ name, about }) => [`\`${name}\``, about]);
  return `## What lets a second node in\n\n${markdownTable(['Path', 'Meaning'], rows)}\n`;
}

function differencesOf({ differences }: Table): string {
  const lines = differences.map(
    ({ id, disks, decision }) => `- \`${id}\` on ${disks.join(', ')}: [decision](../${decision})\n`,
  );
  const none = 'None so far: every rule and every result fits.\n';
  return `## Differences\n\n${lines.length === 0 ? none : lines.join('')}`;
}
