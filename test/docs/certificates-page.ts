/** docs/reference/certificates.md, made from `certificates/DRIVER/VERSION.json`. */
import { readFileSync } from 'node:fs';
import { markdownTable } from '../../lib/markdown-table.ts';
import type { ClassRow, CutRow, DriverFile } from '../../lib/probe/published/driver-file.ts';
import { driverFilePath, driverVersions } from '../../scripts/driver-files.ts';
import { answerWord } from '../../lib/probe/judge/measured.ts';
import { countWords, forcedMeaning, forcedTitle, parameterWords } from '../../lib/probe/texts.ts';

export const path = 'docs/reference/certificates.md';

const opening = `# Certificates

What does a driver do when a volume is detached by force? Each row is one StorageClass of one driver version. [The probe](../how-to/probe.md) tested it on healthy nodes; \`cut off\` shows its outcome [under cuts](../how-to/probe-cut.md). The raw records are in \`certificates/\`, in the form of [the schema](../../certificates/certificate.schema.json), and are judged again whenever the rules change. A run of your own can [play a certificate](../how-to/play-a-certificate.md).
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

/** `folder`: holds `DRIVER/VERSION.json`. */
export function renderedPage(folder: string): string {
  const files = driverVersions(folder).map(
    ({ driver, version }) =>
      JSON.parse(readFileSync(driverFilePath(folder, driver, version), 'utf8')) as DriverFile,
  );
  const none = `No driver has a certificate yet.\n\n${markdownTable(head, [])}\n`;
  const sections = files.length === 0 ? [none] : files.map(section);
  return [opening, ...sections, closing].join('\n');
}
