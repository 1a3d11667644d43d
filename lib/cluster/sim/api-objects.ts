/** The few objects of the model's Kubernetes API, as far as they matter. */

export interface Taint {
  readonly key: string;
  readonly effect: 'NoExecute' | 'NoSchedule';
}

export interface NodeObject {
  readonly name: string;
  ready: 'True' | 'Unknown';
  taints: readonly Taint[];
  /** Renewals of the lease so far. */
  leaseRenewals: number;
  /** The volume stands in status.volumesInUse. */
  inUse: boolean;
  /** The volume stands in status.volumesAttached. */
  attached: boolean;
}

export interface PodObject {
  readonly name: string;
  readonly uid: string;
  node: string | undefined;
  phase: 'Pending' | 'Running' | 'Failed';
  ready: boolean;
  ip: string | undefined;
  terminating: boolean;
}

export interface AttachmentObject {
  readonly name: string;
  readonly node: string;
  attached: boolean;
  deleting: boolean;
  /** status.detachError is set: the disk refused at least once. */
  detachFailed: boolean;
}

export const volumeName = 'mysql-data';
