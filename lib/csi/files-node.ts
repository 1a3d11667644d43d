/**
 * The CSI node service of shared directories: files.forcedetach.dev. It has no attach phase and no
 * staging, as drivers of NFS; Kubernetes publishes a volume wherever a pod wants it.
 */
import { mkdir } from 'node:fs/promises';
import { status } from '@grpc/grpc-js';
import { needed, neededCapability, neededFiles, neededVolume } from './check-request.ts';
import { mountFiles } from './files-mount.ts';
import type { Node } from './gen/csi_pb.js';
import { CallError, type Handlers } from './grpc.ts';
import { filesPath, type Layout } from './layout.ts';
import { bindMount, cleanUpMountPoint, mountAt } from './mounts.ts';
import { neededRecord } from './record-store.ts';
import { mountFlagsOf } from './stage.ts';
import { readAttributes } from './volume-attributes.ts';

export interface FilesNodeOptions {
  readonly layout: Layout;
  /** This node's name, which is its CSI node id too. */
  readonly node: string;
}

export const filesNodeService = ({ layout, node }: FilesNodeOptions): Handlers<typeof Node> => ({
  nodeGetCapabilities: async () => ({ capabilities: [] }),
  nodeGetInfo: async () => ({ nodeId: node }),

  nodePublishVolume: async (request, notes) => {
    const volume = neededVolume(request.volumeId);
    const target = needed('target_path', request.targetPath);
    const flags = mountFlagsOf(neededFiles(neededCapability(request.volumeCapability)));
    const { detachMode, fileLocks } = readAttributes(request.volumeContext);
    if (detachMode !== 'shared-file') {
      throw new CallError(status.INVALID_ARGUMENT, `a shared directory cannot be ${detachMode}`);
    }
    Object.assign(notes, { detachMode, fileLocks });
    await neededRecord(layout, volume);
    if ((await mountAt(target)) !== undefined) return {};
    const files = filesPath(layout, volume);
    await mkdir(files, { recursive: true });
    if (fileLocks === 'local') await mountFiles(layout, files, target);
    else await bindMount(files, target, request.readonly || flags.includes('ro'));
    return {};
  },

  nodeUnpublishVolume: async ({ volumeId, targetPath }) => {
    needed('volume_id', volumeId);
    await cleanUpMountPoint(needed('target_path', targetPath));
    return {};
  },
});
