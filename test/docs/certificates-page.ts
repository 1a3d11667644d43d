/** docs/reference/certificates.md, made from `certificates/DRIVER/VERSION.json`. */
import { readFileSync } from 'node:fs';
import { markdownTable } from '../../lib/core/numbers.ts';
import type { ClassRow, CutRow, DriverFile } from '../../lib/probe/published/driver-file.ts';
import { driverFilePath, driverVersions } from '../../scripts/driver-files.ts';
import { answerWord } from '../../lib/probe/judge/measured.ts';

export const path = 'docs/reference/certificates.md';

const opening = `# Certificates

What does a driver do when a volume is detached by force? Each row is one StorageClass of one driver version. [The probe](../how-to/probe.md) tested it on healthy nodes; *cut off* has its outcome [under cuts](../how-to/probe-cut.md). The raw records are in \`certificates/\`, in the form of [the schema](../../certificates/certificate.schema.json), and are judged again whenever the rules change. \`npx forcedetach report FILE\` makes the page of a driver version, with all counts and times. Your own run can [play a certificate](../how-to/play-a-certificate.md).
`;

const closing = `## Send one

1. Run the probe with \`--run --out FILE\`, or with \`--cut NODE --out FILE\` and classes of one driver. The file names nodes and the class, with its parameters and the driver's messages: read it before you publish it.
2. In a checkout of this repository: \`npx node scripts/certificates.ts add FILE VERSION\`, with the version of the driver that ran, then \`npx vitest run -u --project unit test/docs\`.
3. Open a pull request with the changes. A changed plan, or trials and volumes that are not in the plan, are refused; the answer is judged again.
`;

const head = ['Driver', 'Class, volumes', 'Answer', 'Cut off', 'Records'];

const kindOf = ({ name, volumeMode }: Pick<CutRow, 'name' | 'volumeMode'>): string =>
  `${name}, ${volumeMode}`;

const answerOf = ({ mode, modes }: ClassRow): string =>
  `**${answerWord({ mode: mode ?? undefined, modes })}**`;

/** Each remedy and way with its outcomes. */
function underCuts(cuts: readonly CutRow[]): string {
  const ways = Map.groupBy(cuts, ({ remedy, way }) => `${remedy}, ${way}`);
  const outcomes = (rows: readonly CutRow[]): string =>
    [...new Set(rows.map(({ outcome }) => outcome))].join(', ');
  return [...ways].map(([way, rows]) => `${way}: ${outcomes(rows)}`).join('; ') || '–';
}

export function rowsOf({ driver, version, classes, cuts }: DriverFile): string[][] {
  const kinds = new Set([...classes, ...cuts].map(kindOf));
  return [...kinds].map((kind) => {
    const tried = classes.find((row) => kindOf(row) === kind);
    const own = cuts.filter((row) => kindOf(row) === kind);
    const { measuredAt, records } = tried ?? own[0] ?? { measuredAt: '', records: '' };
    const link = `[${measuredAt.slice(0, 10)}](../../certificates/${driver}/${records})`;
    const answer = tried === undefined ? 'no trials' : answerOf(tried);
    return [`${driver} ${version}`, kind, answer, underCuts(own), link];
  });
}

/** `folder`: holds `DRIVER/VERSION.json`. */
export function renderedPage(folder: string): string {
  const rows = driverVersions(folder).flatMap(({ driver, version }) =>
    rowsOf(JSON.parse(readFileSync(driverFilePath(folder, driver, version), 'utf8')) as DriverFile),
  );
  const none = rows.length === 0 ? ['No driver has a certificate yet.\n'] : [];
  return [opening, ...none, `${markdownTable(head, rows)}\n`, closing].join('\n');
}
