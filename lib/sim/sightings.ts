/** The few objects of the model's Kubernetes API, and how what happens looks: in integers, and in words to observers. */
import { observed, type ObservedName } from '../history/index.ts';
import type { Database } from '../run/index.ts';
import type { Path, Volume } from './disk/volume.ts';
import type { Kernel } from './kernel.ts';
import { msUs } from './timings.ts';

export interface Taint {
  readonly key: string;
  readonly effect: 'NoExecute' | 'NoSchedule';
}

/** What a cordon comes to: the scheduler keeps off (k8s.io/api/core/v1 TaintNodeUnschedulable). */
export const cordonTaint: Taint = {
  key: 'node.kubernetes.io/unschedulable',
  effect: 'NoSchedule',
};

/** `False`: its kubelet says so, since the node shuts down or containerd does not answer. */
export type Ready = 'True' | 'False' | 'Unknown';

/** Stays one object when its Node is deleted and registered again. */
export interface NodeObject {
  readonly name: string;
  readonly index: number;
  exists: boolean;
  ready: Ready;
  /** What a lister that has not heard of the last change yet still shows. */
  readyBefore: Ready;
  readyChangedAtUs: number;
  taints: readonly Taint[];
  /** When its lease was last renewed; undefined while it is renewed regularly. */
  leaseStoppedAtUs: number | undefined;
  /** When somebody other than its kubelet last wrote to its lease, renewing nothing. */
  leaseWrittenAtUs: number | undefined;
  leaseAnnotation: string | undefined;
  /** Volumes in status.volumesInUse, by number; after a deletion what was last seen. */
  readonly inUse: Set<number>;
  /** Volumes in status.volumesAttached, by number. */
  readonly attached: Set<number>;
  readonly pods: Set<PodObject>;
}

export interface PodObject {
  readonly name: string;
  readonly uid: string;
  /** The number of its workload, which is that of its volume. */
  readonly workload: number;
  /** Of its workload's template. */
  readonly revision: number;
  node: NodeObject | undefined;
  phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed';
  ready: boolean;
  ip: string | undefined;
  terminating: boolean;
  /** The last status that its kubelet sent says that a container runs. */
  containersRun: boolean;
  finalizer: boolean;
  /** Deleted for good, and kept by its finalizer alone. */
  held: boolean;
}

export interface AttachmentObject {
  readonly name: string;
  readonly node: NodeObject;
  readonly volume: number;
  attached: boolean;
  deleting: boolean;
  /** status.attachError: why the last try failed. */
  attachError: string | undefined;
  /** status.detachError: why the last failed try did, whatever came later. */
  detachError: string | undefined;
}

/** Who is to follow changes, each of its kind; the objects are as they are after the change. */
export interface ApiWatcher {
  node?(node: NodeObject): void;
  /** Its lease is renewed again, or no longer. */
  lease?(node: NodeObject): void;
  pod?(pod: PodObject): void;
  /** Its workload has a new template. */
  rollout?(workload: number): void;
  attachment?(attachment: AttachmentObject): void;
}

/** It runs no more, whatever it is to do. */
export const isOver = ({ phase }: PodObject): boolean =>
  phase === 'Failed' || phase === 'Succeeded';

/** A pod with this status keeps no volume attached (util.IsPodTerminated). */
export const isTerminated = (pod: PodObject): boolean =>
  isOver(pod) || (pod.terminating && !pod.containersRun);

/** What a lister shows that is so far behind. */
export const listedReady = (node: NodeObject, nowUs: number, lagUs: number): Ready =>
  nowUs - node.readyChangedAtUs < lagUs ? node.readyBefore : node.ready;

export const hasTaint = (node: NodeObject, key: string): boolean =>
  node.taints.some((taint) => taint.key === key);

/** Handle of a volume of this application. */
export const volumeName = (app: string, volume: number): string =>
  `${app}-data${volume === 0 ? '' : `-${volume}`}`;

/**
 * What happens in the model, as integers: for those who follow millions of schedules and need no
 * words. Each comes with a node's index and a volume's, -1 where there is none.
 */
export const notices = {
  nodeReady: 0,
  nodeNotReady: 1,
  taintsChanged: 2,
  nodeDeleted: 3,
  nodeRegistered: 4,
  podCreated: 5,
  podScheduled: 6,
  podRunning: 7,
  podReady: 8,
  podNotReady: 9,
  podTerminating: 10,
  podFailed: 11,
  /** The kubelet says that its containers have ended; it is not unmounted yet. */
  podStopped: 12,
  podGone: 13,
  attachmentCreated: 14,
  attachmentAttached: 15,
  attachmentDeleting: 16,
  attachmentGone: 17,
  /** The storage refused the detach. */
  detachFailed: 18,
  /** Listed in node.status.volumesAttached; taken from it. */
  listed: 19,
  unlisted: 20,
  /** The kubelet reported it in node.status.volumesInUse; no longer. */
  inUse: 21,
  notInUse: 22,
  /** The attach/detach controller starts to want it away; not any more. */
  detachWanted: 23,
  detachUnwanted: 24,
  /** It begins to detach: unmounted, after the six minutes, by the taint. */
  detachBegan: 25,
  forcedByTimeout: 26,
  forcedByTaint: 27,
  /** The live look found it in use: the detach is put off. */
  detachPutOff: 28,
  /** It no longer counts as attached for sure: another node may have it. */
  uncertain: 29,
  multiAttach: 30,
  /** A VolumeAttachment was found missing. */
  attachmentMissed: 31,
  published: 32,
  publishRefused: 33,
  unpublished: 34,
  staged: 35,
  stageRefused: 36,
  /** A pod gets a mount that was already there: NodeStage is not called. */
  stageSkipped: 37,
  /** And that mount is not on the present attachment's path (A→B→A). */
  staleMount: 38,
  unstaged: 39,
  mounted: 40,
  unmounted: 41,
  containerStarted: 42,
  /** Two pods of one database run on one node. */
  sameNodeOverlap: 43,
  controllerEnded: 44,
  controllerLeads: 45,
  kubeletRestarted: 46,
  /** A restarted kubelet does not know a mount any more (#121937). */
  mountForgotten: 47,
  /** A taint's turn was spent on a look that still saw the node Ready. */
  taintTurnLost: 48,
  selfFenced: 49,
  selfFenceOpened: 50,
  cut: 51,
  linkChanged: 52,
  serverStarting: 53,
  serving: 54,
  serverDied: 55,
  serverStopped: 56,
  apiDown: 57,
  apiUp: 58,
  unheard: 59,
  heard: 60,
} as const;

export type NoticeCode = (typeof notices)[keyof typeof notices];

/** By number. */
export const noticeNames: readonly string[] = Object.keys(notices);

export type Notify = (notice: NoticeCode, node: number, volume: number) => void;

export interface Sighting {
  /** Name in lib/history/observations.ts; a server's log by its program. */
  readonly source: string;
  readonly name: ObservedName;
  readonly node?: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Number of the volume that it is of. Default: it is of the cluster or a node. */
  readonly volume?: number;
  /** Default: now. */
  readonly atUs?: number;
}
type Data = Sighting['data'];

export interface Lookout {
  readonly kernel: Kernel;
  /** Shows observers in words. Write `world.see?.(…)`: without an observer nothing is made up. */
  readonly see: ((sighting: Sighting) => void) | undefined;
  /** Shows every step in integers. */
  readonly notice: Notify;
  readonly database: Database;
}

type Of = Pick<Lookout, 'database'>;

interface ApiObjects {
  readonly nodes: readonly NodeObject[];
  readonly pods: ReadonlySet<PodObject>;
  readonly attachments: readonly AttachmentObject[];
}

const readyReasons = {
  True: 'KubeletReady',
  False: 'KubeletNotReady',
  Unknown: 'NodeStatusUnknown',
} as const;

/** The lists of a node name all volumes. */
const nodeData = {
  [observed.nodeReady]: ({ ready }) => ({
    status: ready,
    reason: readyReasons[ready],
  }),
  [observed.nodeTaints]: ({ taints }) => ({
    taints: taints.map(({ key, effect }) => `${key}:${effect}`).toSorted(),
  }),
  [observed.volumesAttached]: ({ attached }, of) => ({ volumes: namesOf(attached, of) }),
  [observed.volumesInUse]: ({ inUse }, of) => ({ volumes: namesOf(inUse, of) }),
  [observed.nodeGone]: () => ({}),
} as const satisfies Readonly<Record<string, (node: NodeObject, of: Of) => Data>>;

const namesOf = (volumes: ReadonlySet<number>, { database }: Of): string[] =>
  [...volumes].map((volume) => volumeName(database.name, volume));

export const ofNode = (of: Of, name: keyof typeof nodeData, node: NodeObject): Sighting => ({
  ...{ source: 'api', name, node: node.name },
  data: nodeData[name](node, of),
});

export const ofPod = (
  { name: pod, uid, node, workload: volume }: PodObject,
  name: ObservedName,
  more: Data = {},
): Sighting => ({
  ...{ source: 'api', name, ...(node === undefined ? {} : { node: node.name }), volume },
  data: { pod, uid, ...more },
});

export const ofAttachment = (
  { database }: Of,
  { name: attachment, node, volume }: AttachmentObject,
  name: ObservedName,
  more: Data = {},
): Sighting => ({
  ...{ source: 'api', name, node: node.name, volume },
  data: { attachment, volume: volumeName(database.name, volume), ...more },
});

export function* standing(of: Of, { nodes, pods, attachments }: ApiObjects): Generator<Sighting> {
  const { nodeReady, nodeTaints, volumesAttached, volumesInUse } = observed;
  for (const node of nodes)
    for (const name of [nodeReady, nodeTaints, volumesAttached, volumesInUse])
      yield ofNode(of, name, node);
  for (const pod of pods) {
    const { phase, ip, ready } = pod;
    yield ofPod(pod, observed.podCreated);
    if (pod.node !== undefined) yield ofPod(pod, observed.podScheduled);
    yield ofPod(pod, observed.podPhase, { phase });
    if (ip !== undefined) yield ofPod(pod, observed.podRunning, { ip });
    yield ofPod(pod, observed.podReady, { ready });
  }
  for (const attachment of attachments) {
    yield ofAttachment(of, attachment, observed.attachmentCreated);
    if (attachment.attached) yield ofAttachment(of, attachment, observed.attachmentAttached);
  }
}

/** A CSI call that has just ended; like the driver's own log it is dated when it came in. */
export function seeCall(
  { see, kernel, database }: Lookout,
  volume: number,
  call: string,
  node: string,
  beganAtUs: number,
  more: Data = {},
): void {
  if (see === undefined) return;
  // Of whole microseconds, as a history dates what it holds: else a call seems to end before its effects.
  const durationMs = (Math.round(kernel.nowUs) - Math.round(beganAtUs)) / msUs;
  const data = { call, volume: volumeName(database.name, volume), durationMs, ...more };
  see({ source: 'csi', name: observed.csiCall, node, volume, data, atUs: beganAtUs });
}

export function seeWritten({ see }: Lookout, { paths, index: volume }: Volume): void {
  if (see === undefined) return;
  for (const path of paths) see(countOf(observed.deviceWritten, volume, path));
}

export const countOf = (
  name: typeof observed.deviceWritten | typeof observed.deviceCut,
  volume: number,
  { node, device, generation, bytesWritten }: Path,
): Sighting => ({
  ...{ source: 'devices', name, node, volume, data: { device, generation, bytesWritten } },
});

export const mountOf = (
  name: typeof observed.mounted | typeof observed.unmounted,
  volume: number,
  { node, device }: Path,
): Sighting => ({ source: 'mounts', name, node, volume, data: { device } });

/** What a sidecar writes to its log (lib/kind/self-fence/main.ts). */
export const selfFenceOf = (node: string, volume: number, text: string): Sighting => ({
  ...{ source: 'self-fence', name: observed.selfFence, node, volume },
  data: { line: `self-fence: ${text}` },
});

export const logOf = (
  { database }: Of,
  node: string,
  volume: number,
  level: 'Note' | 'System' | 'ERROR',
  text: string,
): Sighting => ({
  ...{ source: database.server, name: observed.serverLog, node, volume },
  data: { line: `[${level}] ${text}`, level },
});

export const upOf = (of: Of, node: string, volume: number): Sighting =>
  logOf(of, node, volume, 'Note', of.database.log.signs.ready);
