/**
 * A shared directory without an attach phase, as NFS: the driver files.forcedetach.dev publishes it
 * (lib/csi/files-node.ts), and Kubernetes has nothing to attach. So nobody is asked to detach it either.
 */
import { diskMode } from './mode.ts';

export const sharedFile = diskMode({
  name: 'shared-file',
  does: 'is a shared directory, which nothing attaches, detaches or fences',
  more: '(NFS)',
  isDirectory: true,
});
