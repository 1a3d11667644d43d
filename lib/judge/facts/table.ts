/**
 * What is known of a run, by whom: facts, the witnesses of each, how late each may be. All checks follow from
 * this table, and so do the attacks on them (test/attacks).
 */
import type { ImageLabel, ObservedName } from '../../history/index.ts';
import { answeredWithinMs } from '../timeline/access.ts';
import type { Story } from '../timeline/story.ts';
import * as acts from './acts.ts';
import { acksState, answersOutside } from './clients.ts';
import * as copies from './copies.ts';
import * as group from './group.ts';
import type { Testimony } from './engine.ts';
import type { Evidence, Read } from './evidence.ts';
import * as kubernetes from './kubernetes.ts';
import * as run from './run.ts';
import * as storage from './storage.ts';
import {
  type Disagreement,
  type FactRow,
  type Reason,
  type Witnessed,
  disagreementReason,
  disagreementsOf,
  testimoniesIn,
} from './witnessed.ts';

/** Whose records they are, in a sentence. When each must be there is in evidence/attendance.ts. */
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
  copier: 'the record of copies',
  auditor: 'the audit',
  certificates: 'the fault’s certificates',
  members: 'the group’s members',
  router: 'the router',
} as const;
export type Witness = keyof typeof witnesses;

/** Records that a witness is read from: observations by their name, or others. */
export type Source =
  | ObservedName
  | ('action' | 'answers' | 'certificate' | 'copy' | 'image' | 'log' | 'phase')
  | ('run' | 'setup' | 'stamp');

interface Row extends Witnessed<Evidence> {
  readonly of: readonly Source[];
}
type Fact = FactRow<Witness, Row>;

const second = 1000;
/** Stamped when it happened: processes of one machine differ by milliseconds. */
const exact = (read: Read, ...of: readonly Source[]): Row => ({
  lateMs: second,
  earlyMs: second,
  read,
  of,
});
const late = (lateMs: number, read: Read, ...of: readonly Source[]): Row => ({
  lateMs,
  earlyMs: second,
  read,
  of,
});
/** Reported some time within this of the change, before or after it. */
const about = (ms: number, read: Read, ...of: readonly Source[]): Row => ({
  lateMs: ms,
  earlyMs: ms,
  read,
  of,
});
/** Of one clock, in this order. */
const inOrder = (read: Read, ...of: readonly Source[]): Row => ({
  lateMs: 0,
  earlyMs: 0,
  read,
  of,
});

/** Observers look ten times a second on kind: 0.3 s in the committed runs, and a busy machine looks late. */
const looked = 10 * second;
/** Watches and logs come so much late on a busy machine. */
const watched = 30 * second;

export const facts = {
  owner: {
    about: 'whose path to the disk it is',
    witnesses: {
      log: exact(storage.logOwners, 'log'),
      devices: exact(
        storage.ownersSeen('device-written', 'device-cut'),
        'device-written',
        'device-cut',
      ),
      mounts: exact(storage.ownersSeen('mounted', 'unmounted'), 'mounted', 'unmounted'),
      driver: exact(storage.ownersByCalls, 'csi-call'),
    },
  },
  path: {
    about: 'whether the path takes writes',
    witnesses: {
      log: exact(storage.logPaths, 'log'),
      devices: late(looked, storage.growthOfPaths, 'device-written'),
      driver: exact(storage.stagedPaths, 'csi-call'),
    },
  },
  access: {
    about: 'whether the disk takes writes of the node',
    witnesses: {
      log: exact(storage.logAccess, 'log'),
      devices: late(looked, storage.growthOnNodes, 'device-written'),
      mounts: about(5 * second, storage.mountsOpen, 'mounted'),
      link: late(looked, storage.linkStates, 'link-changed'),
      driver: exact(storage.stagedNodes, 'csi-call'),
      clients: about(answeredWithinMs, acksState('open'), 'answers'),
      runner: exact(run.faultCloses, 'action'),
    },
  },
  cut: {
    about: 'whether the path is cut',
    witnesses: {
      log: exact(storage.logCuts, 'log'),
      devices: late(15 * second, storage.deviceCuts, 'device-cut'),
      driver: exact(storage.driverCuts, 'csi-call'),
    },
  },
  written: {
    about: 'bytes written',
    witnesses: {
      // What was under way when the observer looked.
      log: { ...exact(storage.logCounts, 'log'), slack: 1024 ** 2 },
      devices: late(looked, storage.deviceCounts, 'device-written'),
    },
  },
  writing: {
    about: 'whether the node writes',
    witnesses: {
      log: exact(storage.logWriting, 'log'),
      devices: about(15 * second, storage.devicesWriting, 'device-written'),
      clients: about(answeredWithinMs, acksState('writing'), 'answers'),
    },
  },
  mounted: {
    about: 'whether the volume is mounted',
    witnesses: {
      // A call ends some time after its mount.
      mounts: about(looked, storage.mountsSeen, 'mounted', 'unmounted'),
      driver: exact(storage.driverMounts, 'csi-call'),
      kubelet: exact(storage.publishedOn, 'csi-call'),
      runner: exact(run.faultUnmounts, 'action'),
    },
  },
  attached: {
    about: 'whether the volume is attached',
    witnesses: {
      api: late(watched, kubernetes.apiAttachments, 'attachment-attached', 'attachment-gone'),
      driver: exact(storage.driverAttachments, 'csi-call'),
    },
  },
  attachment: {
    about: 'whether the VolumeAttachment is there',
    witnesses: {
      api: late(watched, kubernetes.apiAttachmentObjects, 'attachment-created', 'attachment-gone'),
      audit: exact(kubernetes.auditAttachments, 'api-request'),
    },
  },
  pod: {
    about: 'whether the pod is there',
    witnesses: {
      api: late(watched, kubernetes.apiPods, 'pod-created', 'pod-gone'),
      audit: exact(kubernetes.auditPods, 'api-request'),
      kubelet: exact(kubernetes.kubeletPods, 'csi-call'),
    },
  },
  podRequest: {
    about: 'whether anybody asked for it',
    witnesses: {
      api: exact(kubernetes.apiPodChanges, 'pod-created', 'pod-terminating'),
      audit: exact(kubernetes.auditPodRequests, 'api-request'),
    },
  },
  podAnswer: {
    about: 'what came of it',
    witnesses: {
      api: exact(kubernetes.apiAnswers, 'pod-created', 'pod-terminating', 'pod-gone'),
      audit: exact(kubernetes.auditGrants, 'api-request'),
    },
  },
  podNode: {
    about: 'the node of the pod',
    witnesses: {
      api: exact(kubernetes.apiPodNodes, 'pod-scheduled', 'pod-running', 'pod-ready', 'pod-gone'),
      kubelet: exact(kubernetes.kubeletPodNodes, 'csi-call'),
      clients: exact(kubernetes.servedPodNodes, 'answers'),
    },
  },
  podVolume: {
    about: 'whether the pod was given the volume',
    witnesses: {
      api: late(watched, kubernetes.apiPodsRun, 'pod-running'),
      kubelet: exact(kubernetes.kubeletGives, 'csi-call'),
    },
  },
  podRuns: {
    about: 'whether the pod ran',
    witnesses: {
      api: late(watched, kubernetes.apiPodsRunning, 'pod-running'),
      clients: exact(kubernetes.servedPods, 'answers'),
    },
  },
  podName: {
    about: 'which pod has the name',
    witnesses: { api: about(2.5 * second, kubernetes.apiPodNames, 'pod-created', 'pod-gone') },
  },
  node: {
    about: 'whether Kubernetes has lost the node',
    witnesses: {
      api: exact(kubernetes.apiNodes, 'node-ready', 'node-gone'),
      taints: late(watched, kubernetes.apiTaints, 'node-taints'),
      // The monitor looks every 5 s, and a busy API server answers late: the committed runs show 13 s.
      runner: { ...exact(run.faultSilences, 'action'), earlyMs: watched },
    },
  },
  reached: {
    about: 'whether the node answers outside clients',
    witnesses: {
      clients: late(5 * second, answersOutside, 'answers'),
      runner: exact(run.faultCutsOff, 'action'),
    },
  },
  detach: {
    about: 'how the volume is taken from the node',
    witnesses: {
      driver: exact(storage.driverDetaches, 'csi-call'),
      manager: exact(kubernetes.managerDetaches, 'force-detach-log'),
    },
  },
  setting: {
    about: 'the run’s setting',
    witnesses: {
      scenario: exact(run.scenarioSettings, 'run'),
      setup: exact(run.setupSettings, 'setup'),
      driver: exact(run.driverSettings, 'csi-call'),
      mounts: exact(run.observedVolume, 'mounted', 'device-written'),
      manager: exact(run.managerSettings, 'force-detach-log'),
    },
  },
  inPlace: {
    about: 'whether the fault is in place',
    witnesses: {
      scenario: exact(acts.faultsAsked, 'run'),
      runner: exact(acts.faultsHeld, 'action'),
      certificates: exact(acts.faultsCertified, 'certificate'),
    },
  },
  certified: {
    about: 'whether it is certified',
    witnesses: {
      scenario: exact(acts.certificatesAsked, 'run'),
      certificates: exact(acts.certificatesMade, 'certificate'),
    },
  },
  act: {
    about: 'whether the run does it',
    witnesses: {
      scenario: exact(acts.actsAsked, 'run'),
      runner: exact(acts.actsBegun, 'action'),
    },
  },
  stepEnd: {
    about: 'how it ended',
    witnesses: {
      scenario: exact(acts.stepsMustEnd, 'run'),
      runner: exact(acts.stepsEnded, 'action'),
    },
  },
  victim: {
    about: 'the node of the database, fault and remedy',
    witnesses: {
      api: exact(acts.victimRan, 'pod-running'),
      router: exact(group.victimRouted, 'routed'),
      runner: exact(acts.victimOfActs, 'action'),
    },
  },
  due: {
    about: 'whether its moment has come',
    witnesses: {
      scenario: exact(acts.remedyDue, 'run'),
      runner: exact(acts.remedyBegun, 'action'),
    },
  },
  phases: {
    about: 'what the run goes through',
    witnesses: {
      scenario: exact(acts.phasesAsked, 'run'),
      runner: exact(acts.phasesRecorded, 'phase'),
    },
  },
  copy: {
    about: 'which copy it is',
    witnesses: {
      scenario: exact(copies.copiesAsked, 'run'),
      setup: exact(copies.volumeSetUp, 'setup'),
      copier: exact(copies.copiesMade, 'copy'),
      auditor: exact(copies.copiesOpened, 'image', 'ledger-read'),
      driver: exact(copies.newestAttachments, 'csi-call', 'mounted', 'device-written'),
    },
  },
  copying: {
    about: 'whether it is being made',
    witnesses: {
      runner: inOrder(copies.copyingSteps, 'action'),
      copier: inOrder(copies.copyTimes, 'copy'),
      auditor: inOrder(copies.imageTimes, 'image'),
    },
  },
  stage: {
    about: 'which image is due',
    witnesses: {
      runner: exact(copies.stagesOfRun, 'phase'),
      copier: exact(copies.stagesCopied, 'copy'),
      // An image may be dated back before the fault, or before the heal.
      auditor: about(3 * second, copies.stagesAudited, 'image', 'ledger-read'),
    },
  },
  member: {
    about: 'who answers as a member of the group',
    witnesses: {
      api: exact(group.membersRun, 'pod-running'),
      members: exact(group.membersAnswer, 'member-view'),
    },
  },
  online: {
    about: 'whether the group has the member',
    witnesses: {
      members: late(looked, group.membersOnline, 'member-view'),
      runner: inOrder(group.allOnline, 'phase'),
    },
  },
  primary: {
    about: 'which member is the primary',
    witnesses: {
      members: late(looked, group.primaryByMembers, 'member-view'),
      router: late(looked, group.primaryByRouter, 'routed'),
      clients: about(answeredWithinMs, group.primaryByClients, 'answers'),
    },
  },
  takesWrites: {
    about: 'whether the member takes writes',
    witnesses: {
      members: late(looked, group.membersReadOnly, 'member-view'),
      clients: about(answeredWithinMs, group.writesAnswered, 'answers'),
    },
  },
  compared: {
    about: 'whether its ledger is compared with the primary’s',
    witnesses: {
      members: exact(group.membersToCompare, 'member-view'),
      auditor: exact(group.membersCompared, 'ledger-read'),
    },
  },
  clock: {
    about: 'whether the clock keeps its time',
    witnesses: {
      runner: exact(run.clockOfRun, 'run'),
      records: exact(run.clockOfRecords, 'stamp'),
    },
  },
} as const satisfies Readonly<Record<string, Fact>>;
export type FactName = keyof typeof facts;

/** Each pair of witnesses that contradict each other about an item of a fact. `of`: default all. */
export const disagreementsIn = (
  evidence: Evidence,
  of: readonly FactName[] = factNames,
): Disagreement<FactName, Witness>[] => disagreementsOf(facts, evidence, evidence.watched, of);

export const factNames = Object.keys(facts) as FactName[];

/** Of one server nothing of these is stated. */
export const groupOnlyFacts: readonly FactName[] = [
  ...(['member', 'online', 'primary', 'takesWrites', 'compared'] as const),
];

/** Those of a run on a group: its volumes stay where they are, and no audit log is kept. */
export const groupFacts: readonly FactName[] = [
  ...(['node', 'reached', 'pod', 'podName', 'podNode', 'podRuns', 'clock', 'setting'] as const),
  ...(['inPlace', 'certified', 'act', 'stepEnd', 'victim', 'due'] as const),
  ...(['phases', 'copy', 'stage'] as const),
  ...groupOnlyFacts,
];

export const testimoniesOf = (evidence: Evidence, fact: FactName): Testimony<Witness>[] =>
  testimoniesIn(facts[fact], evidence, evidence.watched);

export const reasonOf = (found: Disagreement<FactName, Witness>): Reason =>
  disagreementReason(found, facts, witnesses);

/** Images that are not proven to be of this run's volume and moment: nobody may judge by them. */
export const foreignImages = (
  disagreements: readonly Disagreement<FactName, Witness>[],
): ReadonlySet<ImageLabel> =>
  new Set(
    copies.imageLabels.filter((label) =>
      disagreements.some(
        ({ fact, item, one, other }) =>
          ofImages.has(fact) &&
          (item.startsWith(`${label} `) || [one.value, other.value].includes(label)),
      ),
    ),
  );

/** Of anything that has copies of a volume, a run or not. */
export const copyContradictions = (
  plot: Pick<Story, 'records' | 'observations' | 'setup' | 'tells'>,
): Reason[] => {
  // Nothing else is asked of it by the rows of these facts.
  const story = { ...plot, faultAtMs: undefined } as unknown as Story;
  const evidence: Evidence = {
    ...{ story, served: [], log: undefined },
    watched: { fromMs: 0, toMs: Infinity },
  };
  return disagreementsIn(evidence, [...ofImages]).map(reasonOf);
};

const ofImages: ReadonlySet<FactName> = new Set(['copy', 'copying', 'stage']);
