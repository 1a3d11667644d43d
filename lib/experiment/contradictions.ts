/** Fields of a scenario that don't fit together: a run of such a one would answer another question. */
import { losesPower, silencesKubelet, sparesVictim, type FaultKind } from '../fault-kinds.ts';
import { removesPod, takesAttachment, taints } from '../remedy-kinds.ts';
import type { Scenario } from './scenario.ts';

export interface Contradiction {
  readonly field: keyof Scenario;
  /** What is wrong and what would be right. */
  readonly message: string;
}

interface Rule extends Contradiction {
  readonly broken: (scenario: Scenario) => boolean;
  /** The faults that the field tunes. Default: whether it does is no matter of the fault. */
  readonly tunes?: (fault: FaultKind) => boolean;
}

/** Defaults of fields that belong to one kind of disk or fault; any other value is a wish. */
export const defaultCutAfterMs = 10_000;
/** Within the grace period. */
export const defaultRebootAtMs = 20_000;
export const defaultCpuShare = 0.005;
/** Two of a kubelet's renewals, and far less than the stock grace period. */
export const defaultSelfFenceAfterMs = 20_000;
/** Longer than the stock grace period, and long enough to be Ready again. */
export const defaultFlapMs = { down: 70_000, up: 30_000 };
export const defaultAlso = { at: 'half-wait', forMs: 30_000 } as const;

const inSharedFile = (field: keyof Scenario, message: string, usual: unknown): Rule => ({
  field,
  message: `not with disk shared-file: ${message}`,
  broken: (scenario) => scenario.disk === 'shared-file' && scenario[field] !== usual,
});

/** Of a field that does something with these faults only: with another one `changed` is a wish. */
const onlyWith = (
  field: keyof Scenario,
  tunes: (fault: FaultKind) => boolean,
  message: string,
  changed: (scenario: Scenario) => boolean,
): Rule => ({
  ...{ field, message, tunes },
  broken: (scenario) => !tunes(scenario.fault) && changed(scenario),
});

const is =
  (wanted: FaultKind) =>
  (fault: FaultKind): boolean =>
    fault === wanted;

const rules: readonly Rule[] = [
  {
    field: 'diskFrom',
    message: 'its certificate shows another disk than `disk`',
    broken: ({ disk, diskFrom }) => diskFrom !== undefined && !diskFrom.modes.includes(disk),
  },
  {
    field: 'cutAfterMs',
    message: 'only disk ack-early cuts a node off a while after the detach',
    broken: ({ disk, cutAfterMs }) => disk !== 'ack-early' && cutAfterMs !== defaultCutAfterMs,
  },
  {
    field: 'watcherCheck',
    message: 'only disk exclusive asks for watchers',
    broken: ({ disk, watcherCheck }) => disk !== 'exclusive' && watcherCheck !== 'works',
  },
  {
    field: 'fileLocks',
    message: 'only disk shared-file has file locks',
    broken: ({ disk, fileLocks }) => disk !== 'shared-file' && fileLocks !== 'shared',
  },
  onlyWith(
    'link',
    is('network-partition'),
    'only a network-partition reaches the storage link',
    ({ link }) => link !== 'survives',
  ),
  onlyWith(
    'powerLoss',
    losesPower,
    'only a node-crash or a node-reboot loses power',
    ({ powerLoss }) => powerLoss !== 'keeps',
  ),
  {
    field: 'reboot',
    message: 'a node-reboot boots; leave a node down after a node-crash',
    // Where no node goes down it changes nothing, and older scenarios say it.
    broken: ({ fault, reboot }) => fault === 'node-reboot' && !reboot,
    tunes: is('node-crash'),
  },
  onlyWith(
    'rebootAt',
    is('node-reboot'),
    'only a node-reboot boots by itself; a crashed node boots at the heal',
    ({ rebootAt }) => rebootAt !== defaultRebootAtMs,
  ),
  onlyWith(
    'cpuShare',
    is('cpu-starvation'),
    'only a cpu-starvation takes CPU time away',
    ({ cpuShare }) => cpuShare !== defaultCpuShare,
  ),
  onlyWith(
    'flapDownMs',
    is('flapping-partition'),
    'only a flapping-partition flaps',
    ({ flapDownMs }) => flapDownMs !== defaultFlapMs.down,
  ),
  onlyWith(
    'flapUpMs',
    is('flapping-partition'),
    'only a flapping-partition flaps',
    ({ flapUpMs }) => flapUpMs !== defaultFlapMs.up,
  ),
  {
    field: 'serverKills',
    message: 'the first restart comes at once: only from the second on does a kubelet wait',
    broken: ({ serverKills }) => serverKills === 1,
  },
  onlyWith(
    'serverKills',
    silencesKubelet,
    'its kubelet soon reports that the container runs again, unless the fault silences it',
    ({ serverKills }) => serverKills > 0,
  ),
  {
    field: 'serverKills',
    message: 'with trxCommit 0 each kill takes acknowledged commits, before anything else does',
    broken: ({ serverKills, trxCommit }) => serverKills > 0 && trxCommit === 0,
  },
  {
    field: 'serverKills',
    message: 'a self-fence starts and ends the database as well',
    broken: ({ serverKills, selfFence }) => serverKills > 0 && selfFence !== 'off',
  },
  onlyWith(
    'also',
    (fault) => !sparesVictim(fault),
    'a fault of the control plane is the only one of its run, or comes beside another kind',
    ({ also }) => also !== 'none',
  ),
  {
    field: 'alsoAt',
    message: 'says when the second fault comes; name one with `also`',
    broken: ({ also, alsoAt, alsoForMs }) =>
      also === 'none' && (alsoAt !== defaultAlso.at || alsoForMs !== defaultAlso.forMs),
  },
  {
    field: 'disk',
    message:
      'a crash takes nothing from disk shared-file: its directory lies in the page cache ' +
      'of this machine, which outlives a node',
    broken: ({ fault, disk }) => losesPower(fault) && disk === 'shared-file',
  },
  {
    field: 'remedyAt',
    message: 'without a fault none of these events comes; give a time after it, such as 0',
    broken: ({ fault, remedy, remedyAt }) =>
      fault === 'none' && remedy !== 'none' && typeof remedyAt !== 'number',
  },
  {
    field: 'remedyAt',
    message: 'what the remedy removes is the pod, and that is gone by then',
    broken: ({ remedy, remedyAt }) => removesPod(remedy) && remedyAt === 'pod-gone',
  },
  {
    field: 'untaintAt',
    message: 'only the remedies out-of-service and fence-first set a taint',
    broken: ({ remedy, untaintAt }) => !taints(remedy) && untaintAt !== 'end',
  },
  {
    field: 'remedy',
    message: 'strip-pod-finalizer needs a pod that has one: podFinalizer',
    broken: ({ remedy, podFinalizer }) => remedy === 'strip-pod-finalizer' && !podFinalizer,
  },
  {
    field: 'remedy',
    message: 'not with disk shared-file: it has no VolumeAttachment and no path that could be cut',
    broken: ({ remedy, disk }) =>
      disk === 'shared-file' && (takesAttachment(remedy) || remedy === 'fence-first'),
  },
  {
    field: 'selfFenceAfterMs',
    message: 'only a selfFence has a deadline',
    broken: ({ selfFence, selfFenceAfterMs }) =>
      selfFence === 'off' && selfFenceAfterMs !== defaultSelfFenceAfterMs,
  },
  {
    field: 'selfFenceAfterMs',
    message:
      'shorter than two renewals of the Lease, each a fifth of graceMs: a healthy node would be fenced',
    broken: ({ selfFence, selfFenceAfterMs, graceMs }) =>
      selfFence !== 'off' && selfFenceAfterMs < (2 * graceMs) / 5,
  },
  {
    field: 'forceDetach',
    message: 'the controller manager can be told to leave it since Kubernetes 1.30 (#120344)',
    broken: ({ forceDetach, kubernetes }) =>
      forceDetach === 'off' && (kubernetes === '1.28' || kubernetes === '1.29'),
  },
  {
    field: 'moveBack',
    message: 'nothing moves back that a remedy has not moved away',
    broken: ({ moveBack, remedy }) => moveBack && remedy === 'none',
  },
  {
    field: 'recreations',
    message: 'pods are deleted one by one on a node that is whole: fault none, remedy none',
    broken: ({ recreations, fault, remedy, moveBack }) =>
      recreations > 0 && (fault !== 'none' || remedy !== 'none' || moveBack),
  },
  {
    field: 'preStopS',
    message: 'the database would be killed before it is told to stop: less than terminationGraceS',
    broken: ({ preStopS, terminationGraceS }) => preStopS > 0 && preStopS >= terminationGraceS,
  },
  inSharedFile('attachWhileBusy', 'nothing is attached, so that nothing is refused', 'refused'),
  inSharedFile('provision', 'its driver has no controller that would make volumes', 'static'),
  inSharedFile('link', 'its directory has no path that could be severed', 'survives'),
  inSharedFile('filesystem', 'a directory has no file system of its own; leave ext4', 'ext4'),
  inSharedFile('flushes', 'its writes do not pass through the array', 'honest'),
  inSharedFile('keepWrites', 'its writes do not pass through the array', false),
];

/** Empty where all fits. */
export function contradictions(scenario: Scenario): Contradiction[] {
  return rules
    .filter(({ broken }) => broken(scenario))
    .map(({ field, message }) => ({ field, message }));
}

/** Whether the field of a scenario does something with that fault. */
export const tunes = (field: string, fault: FaultKind): boolean =>
  rules.every((rule) => rule.field !== field || (rule.tunes?.(fault) ?? true));
