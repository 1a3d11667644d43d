/** The parts of docs/reference/drivers.md that are made from data/drivers.yaml and the store of fault events. */
import { allDrivers, type Driver } from '../../lib/scenario/disks/drivers.ts';
import { diskModes } from '../../lib/scenario/disks/index.ts';
import { markdownTable } from '../../lib/core/numbers.ts';
import { tallyOf } from './count-events.ts';
import { all, only, shortened, stock } from '../../lib/batch/counted.ts';
import { linesOf, type RunLine } from '../../lib/batch/measurements.ts';
import { trialSchema } from '../../research/real-storage/result.ts';
import { summarize } from '../../research/real-storage/summary.ts';

export const path = 'docs/reference/drivers.md';

const code = (word: string): string => `\`${word}\``;
const anchor = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

const likeness = ({ mode, note }: Driver): string =>
  mode === null
    ? 'none of them, or not documented'
    : `${mode === 'local' ? 'a volume of one node' : code(mode)}${note === undefined ? '' : `: ${note}`}`;

const indexHead = ['Driver', '`CSIDriver`', 'Behaves like', 'How sure'];
const measuredHead = [
  ...['Kind of disk', 'cut off, alive; pod deleted by force'],
  ...['cut off, alive; out-of-service taint', 'dead; pod deleted by force'],
];

const indexRow = (driver: Driver): string[] => [
  `[${driver.name}](#${anchor(driver.name)})`,
  driver.csi.map(code).join(', ') || '–',
  driver.mode === null ? '–' : driver.mode === 'local' ? 'one node' : code(driver.mode),
  driver.sure,
];

/** Throws where nobody measured what a driver names. */
function measuredProtocol({ protocol }: Driver): string[] {
  if (protocol === undefined) return [];
  const row = rows.find(({ transport, revocation }) => `${transport}/${revocation}` === protocol);
  if (row === undefined) throw new Error(`no trial of ${protocol}`);
  const where = '[measured protocol, not this driver](../results/real-storage.md#raw-writers)';
  return [`- **Its protocol** (${where}), ${code(protocol)}: ${row.sentence}`];
}
const rows = summarize(linesOf(trialSchema));

function section(driver: Driver): string {
  const { name, detach, twoNodes, storageLink, sure, sources, signs, provisioners } = driver;
  return [
    `### ${name}`,
    '',
    `- **Behaves like** ${likeness(driver)}`,
    ...(provisioners.length === 0
      ? []
      : [`- **Other provisioner names**: ${provisioners.map(code).join(', ')}`]),
    ...signs.map(
      ({ says, mode }) =>
        `- **If the cluster shows it**: ${says}${typeof mode === 'string' ? ` (then \`${mode}\`)` : ''}`,
    ),
    `- **A detach while the node writes**: ${detach}`,
    ...(twoNodes === undefined ? [] : [`- **Two nodes at once**: ${twoNodes}`]),
    ...(storageLink === undefined ? [] : [`- **When the storage network goes**: ${storageLink}`]),
    ...measuredProtocol(driver),
    `- **How sure**: ${sure}`,
    `- **From**: ${sources.join('; ')}`,
    '',
  ].join('\n');
}

const measuredRow = (lines: readonly RunLine[], mode: string): string[] => [
  code(mode),
  ...[
    { 'fault.kind': 'network-partition', 'remedy.kind': 'force-delete' },
    { 'fault.kind': 'network-partition', 'remedy.kind': 'out-of-service' },
    { 'fault.kind': 'node-crash', 'remedy.kind': 'force-delete' },
  ].map((did) => {
    const wanted = only({ ...did, 'disk.mode': mode });
    const short = tallyOf(lines, all(wanted, shortened));
    const found = [tallyOf(lines, all(wanted, stock)), short === '' ? '' : `*short:* ${short}`];
    return found.filter(Boolean).join('; ') || 'not measured';
  }),
];

/** The parts of the page that are made. */
export const driverTables = (lines: readonly RunLine[]): Readonly<Record<string, string>> => ({
  index: `\n\n${markdownTable(indexHead, allDrivers().map(indexRow))}\n`,
  measured: `\n\n${markdownTable(
    measuredHead,
    diskModes.map((mode) => measuredRow(lines, mode)),
  )}\n`,
  each: `\n\n${allDrivers().map(section).join('\n')}\n`,
});
