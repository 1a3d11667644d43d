/**
 * The conditions that a verdict needs: each is switched in the expectations (test/plays/conditions.test.ts
 * holds that against the model), and where the outcome stays it is not named. The switches are the advice, too.
 */
import type { Database } from '../run/index.ts';
import {
  type PowerLoss,
  type StorageLink,
  diskModeOf,
  isDirectory,
  type DiskMode,
  safetyLevels,
  type Scenario,
  faultNamed,
  losesPower,
  remedyNamed,
  revocationOf,
  transportOf,
  combined,
  fields,
  type FieldValue,
  type SettableName,
  type Settings,
  settingsFrom,
  valueAt,
} from '../scenario/index.ts';
import { expectationOf, type VerdictWord } from '../judge/index.ts';

export const linkWords: Readonly<Record<StorageLink, string>> = {
  survives: 'the old node still reaches its storage',
  stalls: 'the requests of the old node to its storage wait, and arrive when the network is back',
  errors: 'the requests of the old node to its storage fail until the network is back',
};

/** Where a network of its own lies between the nodes and their disks. */
export const networkWords: Readonly<Record<StorageLink, string>> = {
  survives: 'the fault cuts the cluster’s network and leaves the storage network',
  stalls: 'the fault cuts the cluster’s network and the storage network',
  errors: 'the fault cuts the cluster’s network and the storage network',
};

export const powerLossWords: Readonly<Record<PowerLoss, string>> = {
  keeps: 'a crash loses the node’s cache and nothing that the storage has',
  drops: 'a crash also loses what the storage has not flushed',
  reorders: 'a crash loses some of what the storage has not flushed, out of order',
  tears: 'a crash loses what the storage has not flushed and leaves a torn write',
};

export const storageWords = (
  disk: DiskMode,
  { disk: { cutAfter: cutAfterMs } }: Pick<Scenario, 'disk'>,
): string => `the storage ${diskModeOf[disk].does.replace('a while', `${cutAfterMs / 1000} s`)}`;

interface Switch {
  readonly to: Settings;
  /** What to do, where it would have made a damaged run safe. */
  readonly advice?: string | undefined;
}

interface Condition {
  /** Where it can matter at all; default: everywhere. */
  readonly when?: (scenario: Scenario) => boolean;
  /** As the scenario has it. */
  readonly words: (scenario: Scenario) => string;
  readonly switches: readonly Switch[];
}

export const proveItIsOff =
  'Before you remove the old pod, prove that its node is off, or cut its storage path: docs/how-to/lost-node.md.';

const onDevice = ({ disk }: Scenario): boolean => !isDirectory(disk.mode);

/** A field of two values, with the words of each; the advice is to have the first. */
const either = <Name extends SettableName>(
  field: Name,
  [good, ofGood]: readonly [value: FieldValue<Name>, words: string],
  [bad, ofBad]: readonly [value: FieldValue<Name>, words: string],
  advice?: string,
): Condition => ({
  words: (scenario) => (valueAt(scenario, field) === bad ? ofBad : ofGood),
  switches: [{ to: settingsFrom([[field, good]]), advice }, { to: settingsFrom([[field, bad]]) }],
});

const unusual = (
  field: SettableName,
  ofUnusual: (scenario: Scenario) => string,
  ofStock: string,
  advice?: string,
): Condition => {
  const { stock } = fields[field];
  const isUnusual = (scenario: Scenario): boolean => valueAt(scenario, field) !== stock;
  return {
    when: isUnusual,
    words: (scenario) => (isUnusual(scenario) ? ofUnusual(scenario) : ofStock),
    switches: [{ to: settingsFrom([[field, stock]]), advice }],
  };
};

const conditionsOf = ({ title, durability }: Database): readonly Condition[] => [
  {
    words: ({ fault }) => faultNamed(fault.kind).words,
    switches: [
      { to: { fault: { kind: 'none' } } },
      { to: { fault: { kind: 'node-crash' } } },
      { to: { fault: { kind: 'network-partition', link: 'survives' } } },
    ],
  },
  {
    words: ({ remedy }) => remedyNamed(remedy.kind).words,
    switches: [
      { to: { remedy: { kind: 'none', ifOff: false } }, advice: proveItIsOff },
      { to: { remedy: { kind: 'force-delete', ifOff: false } } },
    ],
  },
  unusual(
    'remedy.ifOff',
    () => 'whoever applies the remedy asks first whether the machine is off',
    'whoever applies the remedy asks nobody',
  ),
  {
    when: onDevice,
    words: (scenario) => storageWords(scenario.disk.mode, scenario),
    switches: [
      {
        to: { disk: { mode: 'fenced' } },
        advice: 'Use storage that fences. Try it: the same command with --disk fenced.',
      },
      { to: { disk: { mode: 'unfenced' } } },
    ],
  },
  {
    when: ({ fault }) => fault.kind === 'network-partition',
    words: ({ fault }) => linkWords[fault.link],
    switches: [{ to: { fault: { link: 'survives' } } }, { to: { fault: { link: 'stalls' } } }],
  },
  {
    words: ({ database }) =>
      database.trxCommit === 1
        ? `${title} flushes each commit before it acknowledges it`
        : (durability.unusual({ trxCommit: database.trxCommit })[0] ??
          `${title} acknowledges commits before they are on disk`),
    switches: [
      { to: { database: { trxCommit: 1 } }, advice: durability.advice },
      { to: { database: { trxCommit: 2 } } },
    ],
  },
  unusual(
    'disk.flushes',
    () => 'the storage acknowledges flushes and ignores them',
    'the storage honours flushes',
    `Use storage that honours flushes: no setting of ${title} makes up for it.`,
  ),
  unusual(
    'disk.transport',
    ({ disk }) => `nodes reach the disk ${transportOf[disk.transport].does}`,
    'nodes reach the disk by a device of the storage itself',
  ),
  unusual(
    'disk.revocation',
    ({ disk }) => `the storage ${revocationOf(disk).does} where it takes the disk from a node`,
    'the storage refuses each request of a node that it takes the disk from',
  ),
  {
    when: ({ fault }) => losesPower(fault.kind),
    words: ({ fault }) => powerLossWords[fault.powerLoss],
    switches: [
      { to: { fault: { powerLoss: 'keeps' } } },
      { to: { fault: { powerLoss: 'drops' } } },
    ],
  },
  {
    when: onDevice,
    words: ({ volume }) => `the file system is ${volume.filesystem}`,
    switches: [{ to: { volume: { filesystem: 'ext4' } } }],
  },
  either(
    'volume.accessMode',
    ['ReadWriteOnce', 'the volume is declared ReadWriteOnce'],
    ['ReadWriteMany', 'the volume is declared ReadWriteMany'],
    'Declare the volume ReadWriteOnce: Kubernetes attaches a ReadWriteMany volume before it detaches it.',
  ),
  either(
    'timers.forceDetach',
    ['off', 'kube-controller-manager runs with --disable-force-detach-on-timeout'],
    ['on', 'kube-controller-manager detaches by force after six minutes (its default)'],
    'Or run kube-controller-manager with --disable-force-detach-on-timeout (Kubernetes ≥ 1.30). The out-of-service taint still detaches.',
  ),
  either(
    'workload.terminationGrace',
    [30_000, 'the pod has a termination grace period (not 0 s)'],
    [0, 'the pod has terminationGracePeriodSeconds: 0'],
    'Give the pod a termination grace period: with 0 s the eviction itself is a forced deletion.',
  ),
  unusual(
    'kubernetes.admission',
    () =>
      'an admission policy refuses force-deletion, the out-of-service taint and Node deletion without a proof of fencing',
    'no admission policy asks for a proof of fencing',
  ),
  unusual('workload.finalizer', () => 'the pod has a finalizer', 'the pod has no finalizer'),
  unusual(
    'workload.kind',
    ({ workload }) => `the pod belongs to a ${workload.kind}`,
    'the pod belongs to a StatefulSet',
    'Run the database as a StatefulSet: it makes no second pod while the first one exists.',
  ),
  unusual(
    'fault.serverKills',
    () => 'the database crash-loops when the node fails',
    'the database does not crash-loop',
  ),
  unusual(
    'selfFence.kind',
    () => 'a sidecar ends the database when the node’s Lease expires',
    'no sidecar ends the database',
  ),
  unusual(
    'disk.watcherCheck',
    () => 'the driver gets no answer about watchers of the image',
    'the driver gets an answer about watchers',
  ),
  unusual(
    'disk.attachWhileBusy',
    () => 'the storage attaches a volume that another node still has',
    'the storage refuses to attach a volume that another node still has',
    'Use storage that refuses to attach a volume while another node still has it.',
  ),
  unusual(
    'also.kind',
    ({ also }) => `${faultNamed(also.kind).words} as well`,
    'the control plane works',
  ),
  {
    ...either(
      'disk.fileLocks',
      ['shared', 'a file locked on one node is locked on all'],
      ['local', 'each node has its own file locks (NFS with nolock or local_lock)'],
      'Mount the share with its locks: without nolock and local_lock.',
    ),
    when: ({ disk }) => isDirectory(disk.mode),
  },
];

const isDamage = (word: VerdictWord): boolean => word !== 'safe';

type SafetyWord = Exclude<VerdictWord, 'inconclusive'>;

const isMilder = (word: VerdictWord, than: SafetyWord): boolean =>
  safetyLevels.findIndex((level) => level === word) < safetyLevels.indexOf(than);

/**
 * Damage needs a condition if nothing as bad is possible without it; safety needs it if damage is possible
 * without it. A race needs those without which it can't end as it did.
 */
export function switchedConditions(scenario: Scenario, word: SafetyWord, database: Database) {
  const canHarm = expectationOf(scenario).verdicts.some(isDamage);
  const decides = (verdicts: readonly VerdictWord[]): boolean => {
    if (isDamage(word)) return verdicts.every((each) => isMilder(each, word));
    return canHarm ? !verdicts.includes('safe') : verdicts.some(isDamage);
  };
  return conditionsOf(database)
    .filter(({ when }) => when?.(scenario) !== false)
    .map(({ words, switches }) => ({
      words: words(scenario),
      isStorage: switches.some(({ to }) => to.disk?.mode !== undefined),
      by: switches.map((each) => {
        const other = combined(scenario, each.to);
        const { verdicts } = expectationOf(other);
        /** `decides`: the verdict needs the condition as it is. */
        return { ...each, words: words(other), verdicts, decides: decides(verdicts) };
      }),
    }));
}

const isSame = (some: readonly VerdictWord[], others: readonly VerdictWord[]): boolean =>
  some.length === others.length && some.every((word) => others.includes(word));

export type Reasons = ReturnType<typeof reasonsFor>;

export function reasonsFor(scenario: Scenario, word: SafetyWord, database: Database) {
  const { verdicts, because } = expectationOf(scenario);
  const canHarm = verdicts.some(isDamage);
  const isKnown = isDamage(word) ? canHarm : verdicts.includes('safe');
  const switched = switchedConditions(scenario, word, database);
  const all = switched.flatMap(({ by }) => by);
  const storage = switched.find(({ isStorage }) => isStorage)?.by ?? [];
  return {
    /** The verdict is one that the expectations allow; else nothing can be said of its conditions. */
    isKnown,
    /** The same settings can also end the other way. */
    isChance: canHarm && verdicts.includes('safe'),
    because,
    /** Advice that makes it safe for certain, where it was safe by chance. */
    certain: all.flatMap((each) => (each.verdicts.some(isDamage) ? [] : (each.advice ?? []))),
    otherStorage: storage.filter((each) => !isSame(each.verdicts, verdicts)),
    /** Conditions that decide, each with the switches that do. */
    deciding: switched
      .map(({ by, ...condition }) => ({ ...condition, by: by.filter(({ decides }) => decides) }))
      .filter(({ by }) => isKnown && by.length > 0),
  };
}
