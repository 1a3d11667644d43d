/** The disk of a scenario in plain words: what it does, and whose disk does the same. */
import { database } from '../database/chosen.ts';
import { driversLike } from '../storage/drivers.ts';
import type { PowerLoss, StorageLink } from '../disk-kinds.ts';
import { diskModeOf, isDirectory } from '../disk-modes/index.ts';
import { losesPower } from '../faults/kinds/index.ts';
import type { Scenario } from '../experiment/scenario.ts';
import { originInWords } from '../storage/disk-origin.ts';
import type { Verdict } from '../experiment/verdict/verdict.ts';
import { secondsShown } from './html-parts.ts';
import { scenarioOf } from './wording.ts';

const links: Readonly<Record<StorageLink, string>> = {
  survives: 'the old node’s path to its storage survives when it loses the cluster’s network',
  stalls:
    'the old node’s path to its storage goes with the cluster’s network: its requests wait, and ' +
    'are carried out when the network is back',
  errors:
    'the old node’s path to its storage goes with the cluster’s network: its requests fail until ' +
    'the network is back',
};

const losses: Readonly<Record<PowerLoss, string>> = {
  keeps: 'a crash loses what the node had not yet written to its storage, and no more',
  drops: 'a crash also loses what the disk had not flushed',
  reorders: 'a crash leaves of what the disk had not flushed some, out of order',
  tears: 'a crash loses what the disk had not flushed, and leaves half a write',
};

const whatItDoes = ({ disk, cutAfterMs }: Scenario): string =>
  diskModeOf[disk].does.replace('a while', `${cutAfterMs / 1000} s`);

/** What the fault does to the storage or to the way there; nothing where it reaches neither. */
function fateOf({ fault, link, powerLoss }: Scenario): string[] {
  if (losesPower(fault)) return [losses[powerLoss]];
  return fault === 'network-partition' ? [links[link]] : [];
}

/** The driver was not part of the run: only its kind was. */
const originOf = ({ disk, diskFrom }: Scenario): string =>
  diskFrom === undefined
    ? ''
    : ` The kind is from a certificate (${originInWords(diskFrom, disk)}); the disk is our own, made to behave so.`;

/** In the order of most clusters: made, attached, staged, published. */
function madeBy({ provisioning }: Verdict): string {
  if (provisioning === undefined) return '';
  const { storageClass, calls } = provisioning;
  const done = calls.filter(({ error }) => error === undefined);
  const order = done.map(({ call, t }) => `${call} ${secondsShown(t / 1000)}`).join(', ');
  const failed = calls.length - done.length;
  const told = failed === 0 ? '' : `; ${failed} calls failed before`;
  return ` The official external-provisioner made it for a claim of the class ${storageClass}; into the run: ${order}${told}.`;
}

/** One sentence for the first screen, and one more where a certificate named the kind. */
export function diskInWords(verdict: Verdict): string {
  const scenario = scenarioOf(verdict);
  const { disk, filesystem, accessMode } = scenario;
  const on = isDirectory(disk) ? '' : `${filesystem}, `;
  const fate = fateOf(scenario)
    .map((clause) => `; ${clause}`)
    .join('');
  return `Disk ${disk} (${on}${accessMode}): it ${whatItDoes(scenario)}${fate}.${originOf(scenario)}${madeBy(verdict)}`;
}

/** Whom the verdict concerns, by what their storage does. */
export function appliesIf(verdict: Verdict): string[] {
  const scenario = scenarioOf(verdict);
  const { accessMode, filesystem, flushes } = scenario;
  return [
    `your storage ${whatItDoes(scenario)}`,
    ...fateOf(scenario),
    ...variants(scenario),
    ...(filesystem === 'ext4' ? [] : [`the file system is ${filesystem}`]),
    ...(accessMode === 'ReadWriteOnce' ? [] : [`the volume is declared ${accessMode}`]),
    ...(flushes === 'honest' ? [] : ['the disk acknowledges flushes and does nothing']),
    ...database.durability.unusual(scenario),
    ...aboutKubernetes(scenario),
  ];
}

/** Settings of pod and cluster that decide whether, and when, another node is let in. */
function aboutKubernetes(scenario: Scenario): string[] {
  const { forceDetach, terminationGraceS, podFinalizer, workload, selfFence, rate } = scenario;
  const settings: readonly (readonly [boolean, string])[] = [
    [
      forceDetach === 'off',
      'kube-controller-manager runs with --disable-force-detach-on-timeout; stock detaches by force after six minutes',
    ],
    [terminationGraceS === 0, 'the pod has terminationGracePeriodSeconds: 0; stock is 30'],
    [podFinalizer, 'the pod has a finalizer of its own'],
    [workload.startsWith('deployment'), 'a Deployment makes the pod, not a StatefulSet'],
    [selfFence !== 'off', 'a sidecar ends the database when the node’s Lease is not renewed'],
    [rate === 0, 'nobody writes to the database'],
  ];
  return settings.filter(([applies]) => applies).map(([, text]) => text);
}

function variants({ watcherCheck, attachWhileBusy, fileLocks, disk }: Scenario): string[] {
  if (isDirectory(disk)) {
    return fileLocks === 'shared'
      ? ['a file locked on one node is locked on all']
      : ['each node has file locks of its own (NFS mounted with nolock or local_lock)'];
  }
  return [
    ...(attachWhileBusy === 'granted'
      ? ['it lets a node attach what it still counts as another node’s']
      : []),
    ...(watcherCheck === 'works' ? [] : ['the driver’s question for watchers gets no answer']),
  ];
}

/** Real drivers that are said to behave so. */
export function driversOf(verdict: Verdict): string {
  const drivers = driversLike(scenarioOf(verdict).disk);
  const named = drivers.map(({ name, note }) => (note === undefined ? name : `${name} (${note})`));
  return `Drivers said to behave so: ${named.join('; ')}. Sources and how sure: docs/reference/drivers.md.`;
}
