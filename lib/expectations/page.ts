/** docs/expectations.md: the table for people, expected and measured side by side. */
import { diskModes, type DiskMode } from '../disk-kinds.ts';
import { minorOf } from '../kubernetes-versions.ts';
import type { Measured } from './measured.ts';
import { cellsOf, type Cell, type Table } from './table.ts';

const opening = `# What is expected, and what was measured

Each cell says which verdicts are expected of a fault, a remedy and a disk, and what real runs came to. The expectations are data, written down from Kubernetes' source before the runs (\`expectations.json\`); they are not edited to fit a result. Where a result, or a rule of [the expected set](scenarios.md), differs, the difference is listed with a decision note. This page is made by \`experiments/expectations.mjs\`, and a test holds it to its data.

Times are seconds after the fault with stock timers: **N** the node is declared lost (40–60), **E** the pod is evicted (N + 300), **R** the remedy, **K** a restart of the controller manager and **L** the 15–20 s without a leader. Verdicts are explained [here](verdicts.md), disks [here](which-disk-is-mine.md). A result is followed by the number of runs and their Kubernetes; *short* marks timers that were shortened. Sources are files below Kubernetes' \`pkg/controller\` (1.34) and issues; § numbers are those of the matrix that this project began with. What limits eviction in large clusters is [on a page of their own](large-clusters.md).
`;

const note = `## The model

The built-in model is held against the same expectations by \`test/contract\`; its predictions are never counted as measured.
`;

export const pagePath = new URL('../../docs/expectations.md', import.meta.url);

export function renderPage(table: Table, measured: readonly Measured[]): string {
  const cells = cellsOf(table);
  const faults = table.faults.map(({ id, name, cells: rows }) => {
    const told = rows.map(({ remedy, secondMountAt, why, source }) => {
      const results = diskModes.map((disk) => result(cells, measured, `${id}/${remedy}`, disk));
      return { head: `\`${remedy}\``, secondMountAt, why, source, results };
    });
    return `## ${name}\n\n${tableOf('Remedy', told)}`;
  });
  const exceptions = table.exceptions.map((each) => {
    const { id, name, secondMountAt, why, source, notRunnable } = each;
    const results = diskModes.map((disk) => result(cells, measured, id, disk));
    const reason = notRunnable === undefined ? why : `${why} (not runnable: ${notRunnable})`;
    return { head: name, secondMountAt, why: reason, source, results };
  });
  return [
    opening,
    pathsOf(table),
    ...faults,
    `## Exceptions\n\n${tableOf('Where', exceptions)}`,
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
  const lines = rows.map(({ head, secondMountAt, results, why, source }) =>
    [head, secondMountAt, ...results, why, source].join(' | '),
  );
  const all = [heads.join(' | '), heads.map(() => '---').join(' | '), ...lines];
  return all.map((line) => `| ${line} |\n`).join('');
}

/** Expected, then measured; an unexpected result stands out. */
function result(
  cells: readonly Cell[],
  measured: readonly Measured[],
  id: string,
  disk: DiskMode,
): string {
  const cell = cells.find((each) => each.id === id && each.disk === disk);
  if (cell === undefined) return '–';
  const expected = cell.verdicts.join(' or ');
  if (cell.scenario === undefined) return `${expected}; no run can show it`;
  const found = measured.filter((each) => each.id === id && each.disk === disk);
  if (found.length === 0) return `${expected}; not measured yet`;
  return `${expected}; measured ${summed(found, cell)}`;
}

function summed(found: readonly Measured[], { verdicts }: Cell): string {
  const minors = new Map<string, string[]>();
  for (const { verdict, basis, kubernetes } of found) {
    const surprise =
      verdict === 'inconclusive' || verdicts.includes(verdict) ? '' : ' NOT expected';
    const text = `**${verdict}**${basis === 'shortened' ? ' *short*' : ''}${surprise}`;
    minors.set(text, [...(minors.get(text) ?? []), minorOf(kubernetes)]);
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
  const rows = paths.map(({ name, about }) => `| \`${name}\` | ${about} |\n`).join('');
  return `## What lets a second node in\n\n| Path | Meaning |\n| --- | --- |\n${rows}`;
}

function differencesOf({ differences }: Table): string {
  const lines = differences.map(
    ({ id, disks, decision }) => `- \`${id}\` on ${disks.join(', ')}: [decision](${decision})\n`,
  );
  const none = 'None so far: every rule and every result fits.\n';
  return `## Differences\n\n${lines.length === 0 ? none : lines.join('')}`;
}
