/** How full a mounted volume is, as its file system says, or how large a raw one: NodeGetVolumeStats. */
import { statfs } from 'node:fs/promises';
import { status } from '@grpc/grpc-js';
import { needed, neededVolume } from './check-request.ts';
import { type Node, VolumeUsage_Unit as Unit } from './gen/csi_pb.js';
import { CallError, type Handlers } from './grpc.ts';
import type { Layout } from './layout.ts';
import { isRaw, stagedAt } from './mounts.ts';
import { readProvisioned } from './provisioned.ts';

export const volumeStats = (layout: Layout): Pick<Handlers<typeof Node>, 'nodeGetVolumeStats'> => ({
  nodeGetVolumeStats: async ({ volumeId, volumePath }) => {
    const path = needed('volume_path', volumePath);
    const volume = neededVolume(volumeId);
    const there = await readProvisioned(layout, volume);
    if (there === undefined) {
      throw new CallError(status.NOT_FOUND, `there is no volume ${volume}`);
    }
    const mount = await stagedAt(path);
    if (mount === undefined) {
      throw new CallError(status.NOT_FOUND, `${volume} is not mounted at ${path}`);
    }
    if (isRaw(mount)) return { usage: [{ unit: Unit.BYTES, total: BigInt(there.sizeBytes) }] };
    const { bsize, blocks, bfree, bavail, files, ffree } = await statfs(path, { bigint: true });
    const bytes = { total: blocks * bsize, available: bavail * bsize };
    return {
      usage: [
        { unit: Unit.BYTES, ...bytes, used: (blocks - bfree) * bsize },
        { unit: Unit.INODES, total: files, available: ffree, used: files - ffree },
      ],
    };
  },
});
