/** NodeGetVolumeStats and NodeExpandVolume. A raw volume has a size, and no file system to look into or to grow. */
import { statfs } from 'node:fs/promises';
import { status } from '@grpc/grpc-js';
import { needed, neededVolume } from './check-request.ts';
import { type Node, VolumeUsage_Unit as Unit } from './gen/csi_pb.js';
import { CallError, type Handlers } from './grpc.ts';
import type { Layout } from './layout.ts';
import { devicePath } from './loop-device.ts';
import { isRaw, loopOf, type Mount, stagedAt } from './mounts.ts';
import { neededProvisioned } from './provisioned.ts';
import { must } from './run.ts';

export const mountedVolume = (
  layout: Layout,
): Pick<Handlers<typeof Node>, 'nodeGetVolumeStats' | 'nodeExpandVolume'> => ({
  nodeGetVolumeStats: async (request) => {
    const { path, mount, sizeBytes } = await neededMounted(layout, request);
    if (isRaw(mount)) return { usage: [{ unit: Unit.BYTES, total: BigInt(sizeBytes) }] };
    const { bsize, blocks, bfree, bavail, files, ffree } = await statfs(path, { bigint: true });
    const bytes = { total: blocks * bsize, available: bavail * bsize };
    return {
      usage: [
        { unit: Unit.BYTES, ...bytes, used: (blocks - bfree) * bsize },
        { unit: Unit.INODES, total: files, available: ffree, used: files - ffree },
      ],
    };
  },

  nodeExpandVolume: async (request) => {
    const { volume, path, mount, sizeBytes } = await neededMounted(layout, request);
    const loop = loopOf(mount);
    if (loop === undefined) throw notMounted(volume, path);
    if (isRaw(mount)) return { capacityBytes: BigInt(sizeBytes) };
    if (mount.fsType === 'xfs') await must('xfs_growfs', path);
    else await must('resize2fs', devicePath(loop));
    return { capacityBytes: BigInt(sizeBytes) };
  },
});

async function neededMounted(
  layout: Layout,
  { volumeId, volumePath }: { readonly volumeId: string; readonly volumePath: string },
): Promise<{ volume: string; path: string; mount: Mount; sizeBytes: number }> {
  const path = needed('volume_path', volumePath);
  const volume = neededVolume(volumeId);
  const { sizeBytes } = await neededProvisioned(layout, volume);
  const mount = await stagedAt(path);
  if (mount === undefined) throw notMounted(volume, path);
  return { volume, path, mount, sizeBytes };
}

const notMounted = (volume: string, path: string): CallError =>
  new CallError(status.NOT_FOUND, `${volume} is not mounted at ${path}`);
