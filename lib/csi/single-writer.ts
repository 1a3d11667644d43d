/** SINGLE_NODE_SINGLE_WRITER, Kubernetes' ReadWriteOncePod: a second target on the node is refused. */
import { status } from '@grpc/grpc-js';
import { type VolumeCapability, VolumeCapability_AccessMode_Mode as Mode } from './gen/csi_pb.js';
import { CallError } from './grpc.ts';
import { isSameDisk, type Mount, ownMounts } from './mounts.ts';

export interface PublishTarget {
  readonly target: string;
  readonly staged: Mount;
}

/** Throws FAILED_PRECONDITION where one writer is asked for and the node has another target. */
export async function neededSingleWriter(
  { accessMode }: VolumeCapability,
  { target, staged }: PublishTarget,
): Promise<void> {
  if (accessMode?.mode !== Mode.SINGLE_NODE_SINGLE_WRITER) return;
  const other = (await ownMounts()).find(
    (mount) => isSameDisk(mount, staged) && ![staged.mountPoint, target].includes(mount.mountPoint),
  );
  if (other === undefined) return;
  throw new CallError(status.FAILED_PRECONDITION, `published at ${other.mountPoint} already`);
}
