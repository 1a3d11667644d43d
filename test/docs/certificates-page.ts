/** docs/reference/certificates.md, made from `certificates/DRIVER/VERSION.json`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { diskModes } from '../../lib/disk-modes/index.ts';
import { markdownTable } from '../../lib/markdown-table.ts';
import {
  type ClassRow,
  type DriverFile,
  type CutRow,
} from '../../lib/probe/published/driver-file.ts';
import { driverFilePath, driverVersions } from '../../scripts/driver-files.ts';
import {
  didInWords,
  reasonedInWords,
  type RemedyRow,
} from '../../lib/expectations/on-such-a-disk.ts';
import { remediesTitle, remedyRows, whoseRuns } from '../../lib/probe/remedies.ts';
import { parameterWords } from '../../lib/probe/published/html.ts';
import { answerWord, countWords, forcedMeaning, forcedTitle } from '../../lib/probe/texts.ts';
import { root } from './pages.ts';

export const path = 'docs/reference/certificates.md';
export const certificates = join(root, 'certificates');

const opening = `# Certificates

What did a driver do, in which version, when a volume of it was detached by force? Each row is a class that was asked by [the probe](../how-to/probe.md), on healthy nodes; \`cut off\` tells what became of it [under cuts](../how-to/probe-cut.md), where there was one. All of it is judged again from the raw records, which lie in \`certificates/\`. This page is made from those files; [the schema](certificate.schema.json) has their form. What became of a database on a disk of that kind is [below](#what-each-remedy-did-on-such-a-disk), and a run of your own [plays it](../how-to/play-a-certificate.md).

The driver \`block.acme.example\` is this project's own under a foreign name, made to behave in each way: it shows what the probe can tell, and nothing of a driver that you can buy. Nobody has sent another one yet.
`;

const closing = `## Send one

1. Run the probe with \`--run --out FILE\`, or with \`--cut NODE --out FILE\` and classes of one driver. The file has names of nodes and of the class, its parameters, and the driver's words: read it before you publish it.
2. In a checkout of this repository: \`npx node scripts/certificates.ts add FILE VERSION\`, with the version of the driver that ran, then \`npx vitest run -u --project unit test/docs\`.
3. Open a pull request with what these two have changed. A plan that is not the one of its hash, or trials and volumes that are not those of the plan, are refused; the answer is judged anew.
`;

const what = (row: ClassRow): string =>
  answerWord({ mode: row.mode ?? undefined, modes: row.modes });

const lastAck = 'delete to the last acknowledged write of a writer that is cut off';

function lastWrite({ figures }: ClassRow): string {
  const figure = figures.find((each) => each.what === lastAck);
  return figure === undefined ? '–' : `${figure.p50Ms} ms; ${figure.mostMs} ms (n = ${figure.n})`;
}

const head = [
  ...['Class', 'answer', 'volumes', 'kept', 'contested', 'cut off'],
  ...['delete to the last write: p50; most', 'on', 'records'],
];

/** Of one class and its kind of volume: each remedy and way with what came, and how often. */
function underCuts({ cuts }: DriverFile, name: string, volumeMode: string): string {
  const own = cuts.filter((row) => row.name === name && row.volumeMode === volumeMode);
  const ways = Map.groupBy(own, ({ remedy, way }) => `${remedy}, ${way}`);
  return (
    [...ways]
      .map(([way, rows]) => {
        const outcomes = Map.groupBy(rows, ({ outcome }) => outcome);
        const counted = [...outcomes].map(([outcome, same]) => `${outcome} ${same.length}`);
        return `${way}: ${counted.join(', ')}`;
      })
      .join('; ') || '–'
  );
}

/** Where pods were deleted by force, too. */
function forcedLines({ classes }: DriverFile): string {
  const lines = classes.flatMap(({ name, volumeMode, forceDeleted }) => {
    if (forceDeleted === undefined) return [];
    const { counts, next, figures } = forceDeleted;
    const times = figures.map(
      ({ what, n, p50Ms, p90Ms, mostMs }) =>
        `${what}: p50 ${p50Ms} ms, p90 ${p90Ms} ms, most ${mostMs} ms (n = ${n})`,
    );
    const came = `${countWords(counts)}; next pod: ${countWords(next)}`;
    return [`- ${name}, ${volumeMode}: ${[came, ...times].join('; ')}`];
  });
  const title = `\n${forcedTitle}. ${forcedMeaning}\n\n`;
  return lines.length === 0 ? '' : `${title}${lines.join('\n')}\n`;
}

/** Each cut once. */
function cutLines({ driver, cuts }: DriverFile): string {
  const lines = [...Map.groupBy(cuts, ({ records }) => records)].flatMap(
    ([records, [row, ...rest]]) => {
      if (row === undefined) return [];
      const { remedy, way, timers, measuredAt, volumeMode } = row;
      const pace = timers.length === 0 ? 'as it ships, as far as could be read' : timers.join(' ');
      const what = `${remedy}, ${way}, ${1 + rest.length} volumes, ${volumeMode}, controller manager: ${pace}`;
      return [`- [${measuredAt.slice(0, 10)}](../../certificates/${driver}/${records}): ${what}`];
    },
  );
  return lines.length === 0 ? '' : `\nCuts:\n\n${lines.join('\n')}\n`;
}

/** What only a cut has asked has a row as well. */
const onlyCut = ({ classes, cuts }: DriverFile): CutRow[] => {
  const kindOf = (row: Pick<CutRow, 'name' | 'volumeMode'>): string =>
    `${row.name}, ${row.volumeMode}`;
  const tried = new Set(classes.map(kindOf));
  const first = [...Map.groupBy(cuts, kindOf).values()].flatMap(([row]) => row ?? []);
  return first.filter((row) => !tried.has(kindOf(row)));
};

function section(file: DriverFile): string {
  const { driver, version, classes } = file;
  const cutOnly = onlyCut(file).map(({ name, volumeMode }) => [
    ...[name, 'no trials', volumeMode, '–', '–', underCuts(file, name, volumeMode)],
    ...['–', '–', '–'],
  ]);
  const rows = classes.map((row) => [
    `${row.name} (${parameterWords(row.parameters)})`,
    `**${what(row)}**`,
    `${row.volumes}, ${row.volumeMode}`,
    countWords(row.counts.kept),
    `${countWords(row.counts.contested)}; next pod: ${countWords(row.next)}`,
    underCuts(file, row.name, row.volumeMode),
    lastWrite(row),
    `${row.kubernetes}, kernel ${row.kernels.join(', ')}`,
    `[${row.measuredAt.slice(0, 10)}](../../certificates/${driver}/${row.records})`,
  ]);
  const table = markdownTable(head, [...rows, ...cutOnly]);
  return `## ${driver} ${version}\n\n${table}\n${forcedLines(file)}${cutLines(file)}`;
}

const remedyHead = [
  ...['The node: the remedy', 'stock timers', 'short timers', 'one such run'],
  'by reasoning, not measured',
];

const remedyRow = (row: RemedyRow): string[] => [
  didInWords(row),
  row.stock ?? 'not measured',
  row.short ?? 'not measured',
  row.run === undefined ? '–' : `[${row.run.split('/').at(-1)}](../../${row.run}/summary.md)`,
  reasonedInWords(row),
];

/** Of each mode that some answer names. */
function remediesSection(files: readonly DriverFile[]): string {
  const named = new Set(files.flatMap(({ classes }) => classes.flatMap(({ modes }) => modes)));
  const tables = remedyRows(diskModes.filter((mode) => named.has(mode))).map(
    ({ mode, rows }) => `### ${mode}\n\n${markdownTable(remedyHead, rows.map(remedyRow))}\n`,
  );
  return [
    `## ${remediesTitle}\n`,
    `${whoseRuns} The storage link of the node that was cut off stayed up; *short* marks shortened timers, which count where stock ones agree. Every other fault: [expectations](expectations.md).\n`,
    ...tables,
  ].join('\n');
}

export function renderedPage(): string {
  const files = driverVersions(certificates).map(
    ({ driver, version }) =>
      JSON.parse(readFileSync(driverFilePath(certificates, driver, version), 'utf8')) as DriverFile,
  );
  return [opening, ...files.map(section), remediesSection(files), closing].join('\n');
}
