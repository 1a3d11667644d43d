/**
 * NFSv3: nfs-ganesha serves beside the array (lib/storage/csi/array/nfs.go), an export for each attachment, and libnfs
 * opens the disk's image in it. What the array cut is an I/O error. While the network is gone, the client holds what
 * it is asked, and asks again afterwards.
 */
import { givesUpSoon, transport, untriedOverNetworks } from './kind.ts';

export const nfs = transport(
  {
    name: 'nfs',
    does: 'by an image on NFS, over a network of its own',
    ends: {
      module: 'nfs',
      serves: 'initiator',
      connect: (host, path) =>
        `driver=nfs,server.type=inet,server.host=${host},path=/export/${path}/${path},cache.direct=on`,
      sysctls: givesUpSoon,
    },
    refuses: untriedOverNetworks,
  },
  {
    client: {
      does: 'takes the node off the export’s clients',
      worth: 'fenced',
      victim: 'gets an error',
    },
    unexport: { does: 'exports it no more', worth: 'fenced', victim: 'gets an error' },
  },
);
