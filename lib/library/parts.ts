/** What an experiment is put together from, as values: fields of a scenario, under the scenario's own names. */
import type { ScenarioInput } from '../experiment/scenario.ts';
import type { FaultKind } from '../fault-kinds.ts';
import type { RemedyKind } from '../remedy-kinds.ts';

/** Some fields of a scenario, each optional. */
type Some<Field extends keyof ScenarioInput> = { readonly [F in Field]?: ScenarioInput[F] };

type FaultField =
  | 'reboot'
  | 'rebootAt'
  | 'cpuShare'
  | 'flapDownMs'
  | 'flapUpMs'
  | 'link'
  | 'powerLoss';

/** One of ours. */
export interface FaultPart {
  readonly fields: { readonly fault: FaultKind } & Some<FaultField>;
}

const faultPart = (fault: FaultKind, fields: Some<FaultField> = {}): FaultPart => ({
  fields: { ...fields, fault },
});

export const noFault = (): FaultPart => faultPart('none');
export const nodeCrash = (of: Some<'reboot' | 'powerLoss'> = {}): FaultPart =>
  faultPart('node-crash', of);
export const nodeReboot = (of: Some<'rebootAt' | 'powerLoss'> = {}): FaultPart =>
  faultPart('node-reboot', of);
export const networkPartition = (of: Some<'link'> = {}): FaultPart =>
  faultPart('network-partition', of);
export const flappingPartition = (of: Some<'flapDownMs' | 'flapUpMs'> = {}): FaultPart =>
  faultPart('flapping-partition', of);
export const apiPartition = (): FaultPart => faultPart('api-partition');
export const freeze = (): FaultPart => faultPart('freeze');
export const kubeletStall = (): FaultPart => faultPart('kubelet-stall');
export const runtimeStall = (): FaultPart => faultPart('runtime-stall');
export const kubeletRestart = (): FaultPart => faultPart('kubelet-restart');
export const cpuStarvation = (of: Some<'cpuShare'> = {}): FaultPart =>
  faultPart('cpu-starvation', of);
export const controllerRestart = (): FaultPart => faultPart('controller-restart');
export const apiOutage = (): FaultPart => faultPart('api-outage');
export const attacherDown = (): FaultPart => faultPart('attacher-down');
export const leaseWrite = (): FaultPart => faultPart('lease-write');

/** One of ours. */
export interface RemedyPart {
  readonly fields: { readonly remedy: RemedyKind } & Some<'remedyAt' | 'untaintAt'>;
}

const remedyPart =
  (remedy: RemedyKind) =>
  (of: Some<'remedyAt'> = {}): RemedyPart => ({ fields: { ...of, remedy } });
const taintingPart =
  (remedy: RemedyKind) =>
  (of: Some<'remedyAt' | 'untaintAt'> = {}): RemedyPart => ({ fields: { ...of, remedy } });

export const noRemedy = (): RemedyPart => ({ fields: { remedy: 'none' } });
export const forceDelete = remedyPart('force-delete');
export const plainDelete = remedyPart('delete');
export const deleteNode = remedyPart('delete-node');
export const drain = remedyPart('drain');
export const deleteAttachment = remedyPart('delete-attachment');
export const stripAttachmentFinalizer = remedyPart('strip-attachment-finalizer');
export const stripPodFinalizer = remedyPart('strip-pod-finalizer');
export const outOfService = taintingPart('out-of-service');
export const fenceFirst = taintingPart('fence-first');

export type StorageField =
  | 'cutAfterMs'
  | 'watcherCheck'
  | 'attachWhileBusy'
  | 'fileLocks'
  | 'filesystem'
  | 'accessMode'
  | 'flushes'
  | 'keepWrites';

export interface StoragePart {
  readonly fields: Some<StorageField | 'disk'>;
}

/** The project's own array and driver. `mode`: how it answers a detach; default `unfenced`. */
export const array = ({
  mode,
  ...of
}: Some<StorageField> & { readonly mode?: ScenarioInput['disk'] } = {}): StoragePart => ({
  fields: { ...of, ...(mode === undefined ? {} : { disk: mode }) },
});

export type DatabaseField = 'trxCommit' | 'binlog';

export interface DatabasePart {
  readonly fields: Some<DatabaseField>;
}

/** The one database that there is today (docs/how-to/write-a-database.md). */
export const mysql = (of: Some<DatabaseField> = {}): DatabasePart => ({ fields: of });
