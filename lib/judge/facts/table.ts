/**
 * What is known of a run, by whom: facts, the witnesses of each, how late each may be. All checks follow from
 * this table, and so do the attacks on them (test/attacks).
 */
import { toldInSeconds } from '../../core/index.ts';
import { acksOpen, acksWritten, answersOutside } from './clients.ts';
import { type Contradiction, type Testimony, contradictionsOf } from './engine.ts';
import type { Evidence, Read } from './evidence.ts';
import * as kubernetes from './kubernetes.ts';
import * as run from './run.ts';
import * as storage from './storage.ts';

/** Whose records they are, in a sentence. */
export const witnesses = {
  log: 'the disk’s log of writes',
  devices: 'the devices’ observer',
  mounts: 'the mounts’ observer',
  link: 'the link’s observer',
  driver: 'the driver',
  api: 'the API’s observer',
  taints: 'the node’s taints',
  audit: 'the audit log',
  manager: 'the controller manager’s log',
  kubelet: 'the kubelet’s mounts',
  clients: 'the clients’ answers',
  runner: 'the runner',
  scenario: 'the scenario',
  setup: 'the testbed',
  records: 'the records',
} as const;
export type Witness = keyof typeof witnesses;

interface Row extends Pick<Testimony, 'lateMs' | 'earlyMs' | 'slack'> {
  readonly read: Read;
}

interface Fact {
  /** What an item is asked for, in a sentence. */
  readonly about: string;
  readonly witnesses: Readonly<Partial<Record<Witness, Row>>>;
}

const second = 1000;
/** Stamped when it happened: processes of one machine differ by milliseconds. */
const exact = (read: Read): Row => ({ lateMs: second, earlyMs: second, read });
const late = (lateMs: number, read: Read): Row => ({ lateMs, earlyMs: second, read });
/** Reported some time within this of the change, before or after it. */
const about = (ms: number, read: Read): Row => ({ lateMs: ms, earlyMs: ms, read });
/** Observers look ten times a second on kind: 0.3 s in the committed runs, and a busy machine looks late. */
const looked = 10 * second;
/** Watches and logs come so much late on a busy machine. */
const watched = 30 * second;
/** An answer lay at most 0.32 s outside an access of its node in 173 runs; with trx_commit 2 1.24 s. */
const answered = 2 * second;

export const facts = {
  owner: {
    about: 'whose path to the disk it is',
    witnesses: {
      log: exact(storage.logOwners),
      devices: exact(storage.ownersSeen('device-written', 'device-cut')),
      mounts: exact(storage.ownersSeen('mounted', 'unmounted')),
      driver: exact(storage.ownersByCalls),
    },
  },
  path: {
    about: 'whether the path takes writes',
    witnesses: {
      log: exact(storage.logPaths),
      devices: late(looked, storage.growthOfPaths),
      driver: exact(storage.stagedPaths),
    },
  },
  access: {
    about: 'whether the disk takes writes of the node',
    witnesses: {
      log: exact(storage.logAccess),
      devices: late(looked, storage.growthOnNodes),
      mounts: about(5 * second, storage.mountsOpen),
      link: exact(storage.linkStates),
      driver: exact(storage.stagedNodes),
      clients: about(answered, acksOpen),
      runner: exact(run.faultCloses),
    },
  },
  cut: {
    about: 'whether the path is cut',
    witnesses: { log: exact(storage.logCuts), devices: late(15 * second, storage.deviceCuts) },
  },
  written: {
    about: 'bytes written',
    witnesses: {
      // What was under way when the observer looked.
      log: { ...exact(storage.logCounts), slack: 1024 ** 2 },
      devices: late(looked, storage.deviceCounts),
    },
  },
  writing: {
    about: 'whether the node writes',
    witnesses: {
      log: exact(storage.logWriting),
      // A server that syncs its log once a second gives the disk what it acknowledged so much later.
      devices: about(15 * second, storage.devicesWriting),
      clients: about(answered, acksWritten),
    },
  },
  mounted: {
    about: 'whether the volume is mounted',
    witnesses: {
      // A call ends some time after its mount.
      mounts: about(looked, storage.mountsSeen),
      driver: exact(storage.driverMounts),
    },
  },
  attached: {
    about: 'whether the volume is attached',
    witnesses: {
      api: late(watched, kubernetes.apiAttachments),
      driver: exact(storage.driverAttachments),
    },
  },
  attachment: {
    about: 'whether the VolumeAttachment is there',
    witnesses: {
      api: late(watched, kubernetes.apiAttachmentObjects),
      audit: exact(kubernetes.auditAttachments),
    },
  },
  pod: {
    about: 'whether the pod is there',
    witnesses: {
      api: late(watched, kubernetes.apiPods),
      audit: exact(kubernetes.auditPods),
      kubelet: exact(kubernetes.kubeletPods),
    },
  },
  podName: {
    about: 'which pod has the name',
    witnesses: { api: about(2.5 * second, kubernetes.apiPodNames) },
  },
  node: {
    about: 'whether Kubernetes has lost the node',
    witnesses: {
      api: exact(kubernetes.apiNodes),
      taints: late(watched, kubernetes.apiTaints),
      // The monitor looks every 5 s, and a busy API server answers late: the committed runs show 13 s.
      runner: { ...exact(run.faultSilences), earlyMs: watched },
    },
  },
  reached: {
    about: 'whether the node answers outside clients',
    witnesses: { clients: late(5 * second, answersOutside), runner: exact(run.faultCutsOff) },
  },
  detach: {
    about: 'how the volume is taken from the node',
    witnesses: {
      driver: exact(storage.driverDetaches),
      manager: exact(kubernetes.managerDetaches),
    },
  },
  setting: {
    about: 'the run’s setting',
    witnesses: {
      scenario: exact(run.scenarioSettings),
      setup: exact(run.setupSettings),
      driver: exact(run.driverSettings),
      mounts: exact(run.observedVolume),
    },
  },
  clock: {
    about: 'whether the clock keeps its time',
    witnesses: { runner: exact(run.clockOfRun), records: exact(run.clockOfRecords) },
  },
} as const satisfies Readonly<Record<string, Fact>>;
export type FactName = keyof typeof facts;

export interface Disagreement extends Contradiction<Witness> {
  readonly fact: FactName;
}

/** Each pair of witnesses that contradict each other about an item of a fact. */
export const disagreementsIn = (evidence: Evidence): Disagreement[] =>
  (Object.entries(facts) as [FactName, Fact][]).flatMap(([fact, { witnesses: rows }]) =>
    contradictionsOf(testimoniesOf(evidence, rows)).map((found) => ({ fact, ...found })),
  );

const testimoniesOf = (evidence: Evidence, rows: Fact['witnesses']): Testimony<Witness>[] =>
  (Object.entries(rows) as [Witness, Row][]).flatMap(([witness, { read, ...exactness }]) => {
    const found = read(evidence);
    return found === undefined ? [] : [{ witness, sees: evidence.watched, ...exactness, ...found }];
  });

export function disagreementInWords({ fact, item, atMs, one, other, count }: Disagreement): string {
  const times = count === 1 ? '' : `, ${count} times`;
  return (
    `${facts[fact].about} (${item}): ${one.value} by ${witnesses[one.witness]}, ${other.value} by ` +
    `${witnesses[other.witness]} at ${toldInSeconds(atMs)}${times}`
  );
}
