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

const singleNode: ReadonlySet<Mode> = new Set([
  Mode.SINGLE_NODE_WRITER,
  Mode.SINGLE_NODE_READER_ONLY,
  Mode.SINGLE_NODE_SINGLE_WRITER,
  Mode.SINGLE_NODE_MULTI_WRITER,
]);

/** Why the capability can't be had; undefined where it can: a mounted ext4 on one node at a time. */
export function unsupported(capability: VolumeCapability): string | undefined {
  const { accessType, accessMode } = capability;
  if (accessType.case === 'block') return 'block volumes are not supported';
  if (accessMode === undefined || !singleNode.has(accessMode.mode)) {
    return `access mode ${Mode[accessMode?.mode ?? Mode.UNKNOWN]} is not supported`;
  }
  const fsType = accessType.case === 'mount' ? accessType.value.fsType : '';
  return fsType === '' || fsType === 'ext4' ? undefined : `file system ${fsType} is not supported`;
}

export function neededCapability(capability: VolumeCapability | undefined): VolumeCapability {
  if (capability === undefined || capability.accessType.case === undefined) {
    throw new CallError(status.INVALID_ARGUMENT, 'volume_capability is missing');
  }
  const why = unsupported(capability);
  if (why !== undefined) throw new CallError(status.INVALID_ARGUMENT, why);
  return capability;
}
