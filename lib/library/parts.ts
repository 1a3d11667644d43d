/** What an experiment is put together from, as values: the scenario's own form. */
import type { WrittenGroup, WrittenWith } from '../experiment/written-form.ts';
import type { FaultKind } from '../faults/kinds/index.ts';
import type { RemedyKind } from '../remedies/kinds/index.ts';

type Part<Group extends string, Kind> = { readonly kind: Kind } & WrittenWith<Group, Kind>;
type Maker<Group extends string, Kind> = (of?: WrittenWith<Group, Kind>) => Part<Group, Kind>;

interface Kinds {
  readonly fault: FaultKind;
  readonly remedy: RemedyKind;
}

/** What makes parts of a group, one a kind. */
const partsOf =
  <Group extends keyof Kinds>() =>
  <const Kind extends Kinds[Group]>(kind: Kind): Maker<Group, Kind> =>
  (of) => ({ ...(of as WrittenWith<Group, Kind>), kind });

const faultPart = partsOf<'fault'>();

export const noFault = faultPart('none');
export const nodeCrash = faultPart('node-crash');
export const nodeReboot = faultPart('node-reboot');
export const networkPartition = faultPart('network-partition');
export const flappingPartition = faultPart('flapping-partition');
export const apiPartition = faultPart('api-partition');
export const freeze = faultPart('freeze');
export const kubeletStall = faultPart('kubelet-stall');
export const runtimeStall = faultPart('runtime-stall');
export const kubeletRestart = faultPart('kubelet-restart');
export const cpuStarvation = faultPart('cpu-starvation');
export const controllerRestart = faultPart('controller-restart');
export const apiOutage = faultPart('api-outage');
export const attacherDown = faultPart('attacher-down');
export const leaseWrite = faultPart('lease-write');

const remedyPart = partsOf<'remedy'>();

export const noRemedy = remedyPart('none');
export const forceDelete = remedyPart('force-delete');
export const plainDelete = remedyPart('delete');
export const deleteNode = remedyPart('delete-node');
export const drain = remedyPart('drain');
export const deleteAttachment = remedyPart('delete-attachment');
export const stripAttachmentFinalizer = remedyPart('strip-attachment-finalizer');
export const stripPodFinalizer = remedyPart('strip-pod-finalizer');
export const outOfService = remedyPart('out-of-service');
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

export type DatabasePart = WrittenGroup<'database'>;

/** The one database that there is today (docs/how-to/write-a-database.md). */
export const mysql = (of: DatabasePart = {}): DatabasePart => of;
