/** Grows a mounted file system to the size of its volume: NodeExpandVolume. A raw one has none. */
import { status } from '@grpc/grpc-js';
import { needed, neededVolume } from './check-request.ts';
import type { Node } from './gen/csi_pb.js';
import { CallError, type Handlers } from './grpc.ts';
import type { Layout } from './layout.ts';
import { devicePath } from './loop-device.ts';
import { isRaw, loopOf, stagedAt } from './mounts.ts';
import { readProvisioned } from './provisioned.ts';
import { must } from './run.ts';

export const fileSystemExpansion = (
  layout: Layout,
): Pick<Handlers<typeof Node>, 'nodeExpandVolume'> => ({
  nodeExpandVolume: async ({ volumeId, volumePath }) => {
    const path = needed('volume_path', volumePath);
    const volume = neededVolume(volumeId);
    const there = await readProvisioned(layout, volume);
    if (there === undefined) {
      throw new CallError(status.NOT_FOUND, `there is no volume ${volume}`);
    }
    const mount = await stagedAt(path);
    const loop = mount === undefined ? undefined : loopOf(mount);
    if (mount === undefined || loop === undefined) {
      throw new CallError(status.NOT_FOUND, `${volume} is not mounted at ${path}`);
    }
    if (isRaw(mount)) return { capacityBytes: BigInt(there.sizeBytes) };
    if (mount.fsType === 'xfs') await must('xfs_growfs', path);
    else await must('resize2fs', devicePath(loop));
    return { capacityBytes: BigInt(there.sizeBytes) };
  },
});
