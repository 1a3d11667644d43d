/**
 * A shared directory without an attach phase, as NFS: the driver files.forcedetach.dev publishes it
 * (lib/storage/csi/node.ts), and Kubernetes has nothing to attach. So nobody is asked to detach it either.
 */
import { choice } from '../field.ts';
import { diskMode } from './mode.ts';

export const sharedFile = diskMode({
  name: 'shared-file',
  does: 'is a shared directory, which nothing attaches, detaches or fences',
  more: '(NFS)',
  isDirectory: true,
  fields: {
    fileLocks: choice(['shared', 'local'], 'shared', {
      about: 'one lock table for all nodes, or one for each node (NFS mounted with nolock)',
      swept: {},
    }),
  },
  keeps: {
    'volume.provision': 'its driver has no controller that would make volumes',
    'fault.link': 'its directory has no path that could be severed',
    'volume.filesystem': 'a directory has no file system of its own; leave ext4',
  },
});
