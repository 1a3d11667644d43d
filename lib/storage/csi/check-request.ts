/** What requests must hold before anything is done, with the codes that the CSI specification asks. */
import { status } from '@grpc/grpc-js';
import { CallError } from './grpc.ts';
import { type VolumeCapability, VolumeCapability_AccessMode_Mode as Mode } from './gen/csi_pb.js';
import { isName } from './layout.ts';

export function needed(name: string, value: string): string {
  if (value === '') throw new CallError(status.INVALID_ARGUMENT, `${name} is missing`);
  return value;
}

/** A handle that can't name a volume names one that is not there. */
export function neededVolume(volumeId: string): string {
  needed('volume_id', volumeId);
  if (!isName(volumeId)) throw new CallError(status.NOT_FOUND, `there is no volume ${volumeId}`);
  return volumeId;
}

/** Readers on several nodes are accepted too: what is declared is not what is done. */
const manyNodes: ReadonlySet<Mode> = new Set([
  Mode.MULTI_NODE_READER_ONLY,
  Mode.MULTI_NODE_SINGLE_WRITER,
  Mode.MULTI_NODE_MULTI_WRITER,
]);
const fileSystems: ReadonlySet<string> = new Set(['', 'ext4', 'xfs']);

/** True where Kubernetes may attach the volume to several nodes at once. */
export const isForManyNodes = ({ accessMode }: VolumeCapability): boolean =>
  manyNodes.has(accessMode?.mode ?? Mode.UNKNOWN);

/**
 * Why the capability can't be had; undefined where it can: any access mode, since it is Kubernetes
 * that keeps to it, raw or of a file system that this driver makes.
 */
export function unsupported({ accessType, accessMode }: VolumeCapability): string | undefined {
  if ((accessMode?.mode ?? Mode.UNKNOWN) === Mode.UNKNOWN) return 'access_mode is missing';
  const fsType = fsTypeOf(accessType);
  return fileSystems.has(fsType) ? undefined : `file system ${fsType} is not supported`;
}

const fsTypeOf = (accessType: VolumeCapability['accessType']): string =>
  accessType.case === 'mount' ? accessType.value.fsType : '';

/** A raw device, and no file system on it. */
export const isBlock = ({ accessType }: VolumeCapability): boolean => accessType.case === 'block';

/** Throws INVALID_ARGUMENT: a directory that nodes share is no device. */
export function neededFiles(capability: VolumeCapability): VolumeCapability {
  if (!isBlock(capability)) return capability;
  throw new CallError(status.INVALID_ARGUMENT, 'a shared directory cannot be had as a raw device');
}

/** Takes ext4 where nothing is said, as Kubernetes does. */
export const fileSystemOf = ({ accessType }: VolumeCapability): 'ext4' | 'xfs' =>
  fsTypeOf(accessType) === 'xfs' ? 'xfs' : 'ext4';

export function neededCapability(capability: VolumeCapability | undefined): VolumeCapability {
  if (capability === undefined || capability.accessType.case === undefined) {
    throw new CallError(status.INVALID_ARGUMENT, 'volume_capability is missing');
  }
  const why = unsupported(capability);
  if (why !== undefined) throw new CallError(status.INVALID_ARGUMENT, why);
  return capability;
}
