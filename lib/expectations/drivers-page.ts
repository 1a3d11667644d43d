/** docs/reference/drivers.md, made from data/drivers.yaml and the store of fault events. */
import { allDrivers, type Driver } from '../storage/drivers.ts';
import { diskModes } from '../disk-modes/index.ts';
import { markdownTable } from '../markdown-table.ts';
import { all, only, shortened, stock, tallyOf } from './counts.ts';
import type { RunLine } from './runs.ts';

export const driversPath = new URL('../../docs/reference/drivers.md', import.meta.url);

const opening = `# Drivers, A to Z

What does your storage driver do when Kubernetes detaches a volume that a node still writes to, and how sure is that? Find its name among your cluster's drivers:

\`\`\`sh
kubectl get csidrivers -o custom-columns=NAME:.metadata.name,ATTACH:.spec.attachRequired
\`\`\`

**Behaves like** is one of eight [kinds of disk](../explanation/disk-modes.md); a verdict is measured on a kind, [not on a product](#what-was-measured). **How sure**: *source*, read in the driver's code; *documented*, its vendor says so; *reported*, an issue says so; *not found*: measure it, or ask. A line is as sure as its weakest claim. Stored copies were read, in November 2026; your version may differ.

Two things hold for every driver. Kubernetes sends the same \`ControllerUnpublishVolume\` for a forced detach as for an orderly one: no driver is told that the node may still write ([container-storage-interface/spec#477](https://github.com/container-storage-interface/spec/pull/477) would change that and is open). And where no file system is named, the external provisioner or the driver makes ext4.

This page is made from [drivers.yaml](../../data/drivers.yaml). Yours is missing or wrong? Four questions of its code answer it: does \`CSIDriver\` say \`attachRequired\`; what does \`ControllerUnpublishVolume\` call, with which force flag; does \`NodeStageVolume\` ask whether somebody else uses the image; does anything read the node's taints.
`;

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
    `- **How sure**: ${sure}`,
    `- **From**: ${sources.join('; ')}`,
    '',
  ].join('\n');
}

const measuredRow = (lines: readonly RunLine[], mode: string): string[] => [
  code(mode),
  ...[
    { fault: 'network-partition', remedy: 'force-delete' },
    { fault: 'network-partition', remedy: 'out-of-service' },
    { fault: 'node-crash', remedy: 'force-delete' },
  ].map((did) => {
    const asked = only({ ...did, disk: mode });
    const short = tallyOf(lines, all(asked, shortened));
    const found = [tallyOf(lines, all(asked, stock)), short === '' ? '' : `*short:* ${short}`];
    return found.filter(Boolean).join('; ') || 'not measured';
  }),
];

export function renderDrivers(lines: readonly RunLine[]): string {
  return [
    opening,
    `${markdownTable(indexHead, allDrivers().map(indexRow))}\n`,
    '## What was measured\n',
    'Not one of these drivers was measured. The disk of the runs is our own, made to behave like each kind. Verdicts, each with its number of fault events; *short* marks shortened timers, *at other rates* another write rate than the default. [What a few events can tell](../results/README.md).\n',
    `${markdownTable(
      measuredHead,
      diskModes.map((mode) => measuredRow(lines, mode)),
    )}\n`,
    '## Each driver\n',
    allDrivers().map(section).join('\n'),
  ].join('\n');
}
