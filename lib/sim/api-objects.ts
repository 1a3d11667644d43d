/** The few objects of the model's Kubernetes API, as far as they matter, and who follows them. */
export interface Taint {
  readonly key: string;
  readonly effect: 'NoExecute' | 'NoSchedule';
}

/** k8s.io/api/core/v1 TaintNodeUnreachable. */
export const unreachableKey = 'node.kubernetes.io/unreachable';
/** What a cordon comes to: the scheduler keeps off (k8s.io/api/core/v1 TaintNodeUnschedulable). */
export const cordonTaint: Taint = {
  key: 'node.kubernetes.io/unschedulable',
  effect: 'NoSchedule',
};

export type Ready = 'True' | 'Unknown';

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
  /** What is written there. */
  leaseAnnotation: string | undefined;
  /** Volumes in status.volumesInUse, by number; after a deletion what was last seen. */
  readonly inUse: Set<number>;
  /** Volumes in status.volumesAttached, by number. */
  readonly attached: Set<number>;
  /** Pods that are bound to it. */
  readonly pods: Set<PodObject>;
}

export interface PodObject {
  readonly name: string;
  readonly uid: string;
  /** The number of its workload, which is that of its volume. */
  readonly workload: number;
  node: NodeObject | undefined;
  phase: 'Pending' | 'Running' | 'Failed';
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
  /** status.attachError is set: the disk refused at the last try. */
  attachFailed: boolean;
  /** status.detachError is set: the disk refused at least once. */
  detachFailed: boolean;
}

/** Who is to follow changes, each of its kind; the objects are as they are after the change. */
export interface ApiWatcher {
  node?(node: NodeObject): void;
  /** Its lease is renewed again, or no longer. */
  lease?(node: NodeObject): void;
  pod?(pod: PodObject): void;
  attachment?(attachment: AttachmentObject): void;
}

/** A pod with this status keeps no volume attached (util.IsPodTerminated). */
export const isTerminated = ({ phase, terminating, containersRun }: PodObject): boolean =>
  phase === 'Failed' || (terminating && !containersRun);

/** What a lister shows that is so far behind. */
export const listedReady = (node: NodeObject, nowUs: number, lagUs: number): Ready =>
  nowUs - node.readyChangedAtUs < lagUs ? node.readyBefore : node.ready;

export const hasTaint = (node: NodeObject, key: string): boolean =>
  node.taints.some((taint) => taint.key === key);

/** Handle of a volume of this application. */
export const volumeName = (app: string, volume: number): string =>
  `${app}-data${volume === 0 ? '' : `-${volume}`}`;
