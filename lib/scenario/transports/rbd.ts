/**
 * RBD: a mon and an osd of Ceph beside the array keep the volume as an image with exclusive-lock, and librbd in
 * qemu-storage-daemon reaches it. The array reads the osd's log (lib/storage/csi/array/rbd.go), and is asked nothing.
 */
import { transport, untried } from './kind.ts';

export const rbd = transport(
  {
    name: 'rbd',
    does: 'by Ceph RBD, over a network of its own',
    fencesSilent: true,
    ends: {
      module: 'rbd',
      serves: 'ceph',
      // The image is the volume's, not the path's.
      connect: (host, path) =>
        `driver=rbd,pool=rbd,image=${path.replace(/\.\d+$/, '')},server.0.host=${host},server.0.port=3300,` +
        'auth-client-required.0=none,cache.direct=on,discard=unmap',
      sysctls: [],
    },
    keeps: {
      'fault.powerLoss': 'what the osd acknowledged is never lost with a node',
      'disk.flushes': 'the array does not see what librbd is asked to flush',
      'disk.keepWrites': 'the osd’s log has no data',
    },
    refuses: {
      'fault.link': {
        errors: 'librbd holds its requests while the storage network is gone: give stalls',
      },
      'fault.kind': {
        'node-reboot': untried,
        freeze: 'its librbd is not frozen with the node, and gives the lock away',
      },
      'database.kind': { 'group-replication': untried },
    },
  },
  {
    cut: {
      does: 'puts the node’s librbd on Ceph’s blocklist',
      worth: 'fenced',
      victim: 'gets an error',
      endsAtConnect: true,
    },
    'lock-rm': {
      does: 'removes the lock of the image, and so blocklists the librbd that has it',
      worth: 'fenced',
      victim: 'gets an error',
      endsAtConnect: true,
    },
    'lock-rm-only': {
      does: 'removes the lock of the image without a blocklist',
      worth: 'unfenced',
      victim: 'goes on',
    },
  },
);
