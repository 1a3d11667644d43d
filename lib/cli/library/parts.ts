/** What an experiment is put together from, as values: the scenario's own form. */
import type {
  WrittenGroup,
  WrittenWith,
  DatabaseKind,
  FaultKind,
  RemedyKind,
} from '../../scenario/index.ts';

type ExperimentPart<Group extends string, Kind> = { readonly kind: Kind } & WrittenWith<
  Group,
  Kind
>;
type Maker<Group extends string, Kind> = (
  of?: WrittenWith<Group, Kind>,
) => ExperimentPart<Group, Kind>;

interface KindOf {
  readonly fault: FaultKind;
  readonly remedy: RemedyKind;
  readonly database: DatabaseKind;
}

/** What makes parts of a group, one a kind. */
const partsOf =
  <Group extends keyof KindOf>() =>
  <const Kind extends KindOf[Group]>(kind: Kind): Maker<Group, Kind> =>
  (of) => ({ ...(of as WrittenWith<Group, Kind>), kind });

const faultPart = partsOf<'fault'>();

/** Breaks nothing: what a remedy does to a healthy node. */
export const noFault = faultPart('none');
/** Cuts the victim’s device off and kills the node; it stays down until the heal. */
export const nodeCrash = faultPart('node-crash');
/** Crashes the node and boots it at `rebootAt`. */
export const nodeReboot = faultPart('node-reboot');
/** Cuts the node off the cluster’s network; its database and the clients beside it go on. */
export const networkPartition = faultPart('network-partition');
/** Cuts the node off for `down` and lets it back for `up`, over and over. */
export const flappingPartition = faultPart('flapping-partition');
/** Cuts the node off the control plane alone: all clients still reach the database. */
export const apiPartition = faultPart('api-partition');
/** Stops every process of the node until the heal: thawed after the hand-over it is the zombie. */
export const freeze = faultPart('freeze');
/** Stops the kubelet (SIGSTOP); the database runs on. */
export const kubeletStall = faultPart('kubelet-stall');
/** Stops kubelet and containerd; the database runs on. */
export const runtimeStall = faultPart('runtime-stall');
/** Ends the kubelet and starts it again; the database runs on. */
export const kubeletRestart = faultPart('kubelet-restart');
/** Gives all processes of the node together `cpuShare` of one CPU. */
export const cpuStarvation = faultPart('cpu-starvation');
/** Kills the controller manager: the next one starts every wait again. */
export const controllerRestart = faultPart('controller-restart');
/** Stops the API server, and the kubelet that would replace it. */
export const apiOutage = faultPart('api-outage');
/** Stops the csi-attacher: nothing is attached or detached. */
export const attacherDown = faultPart('attacher-down');
/** Writes an annotation to the victim’s Lease once a second, which renews nothing. */
export const leaseWrite = faultPart('lease-write');

const remedyPart = partsOf<'remedy'>();

/** Leaves the old pod to Kubernetes. */
export const noRemedy = remedyPart('none');
/** Deletes the pod with grace period 0; a forced detach comes six minutes later. */
export const forceDelete = remedyPart('force-delete');
/** Deletes the pod as usual, which waits for its kubelet to confirm. */
export const plainDelete = remedyPart('delete');
/** Deletes the Node object: its pods are orphans, removed after 40 to 80 s. */
export const deleteNode = remedyPart('delete-node');
/** Drains the node as `kubectl drain` does, with a time limit. */
export const drain = remedyPart('drain');
/** Deletes the victim’s VolumeAttachment by hand. */
export const deleteAttachment = remedyPart('delete-attachment');
/** Deletes the VolumeAttachment and takes its finalizer away: nothing asks the storage to detach. */
export const stripAttachmentFinalizer = remedyPart('strip-attachment-finalizer');
/** Force-deletes the pod and takes away the finalizer that holds it. */
export const stripPodFinalizer = remedyPart('strip-pod-finalizer');
/** Taints the node out-of-service: the volume is detached within seconds, without an unmount. */
export const outOfService = remedyPart('out-of-service');
/** Cuts the node’s paths at the backend, verifies that, and only then taints it out-of-service. */
export const fenceFirst = remedyPart('fence-first');

/** What keeps the data. */
export interface StoragePart {
  readonly disk: WrittenGroup<'disk'>;
  readonly volume: WrittenGroup<'volume'>;
}

/** The project's own array and driver. `mode`: how it answers a detach; default `unfenced`. */
export const array = ({
  volume = {},
  ...disk
}: Exclude<WrittenGroup<'disk'>, string> & {
  readonly volume?: WrittenGroup<'volume'>;
} = {}): StoragePart => ({ disk, volume });

/** Settings of one server on one volume. */
export type DatabasePart = WrittenWith<'database', 'single-server'>;

/** The one database that there is today (docs/how-to/write-a-database.md). */
export const mysql = (of: DatabasePart = {}): DatabasePart => of;

/** Three of its servers that replicate among themselves, a volume each; on `kind()`. */
export type GroupPart = ExperimentPart<'database', 'group-replication'>;
export const groupReplication: Maker<'database', 'group-replication'> =
  partsOf<'database'>()('group-replication');
