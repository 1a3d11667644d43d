/**
 * iSCSI: tgt serves beside the array (lib/storage/csi/array/iscsi.go), a target for each attachment, and libiscsi
 * connects. What the array cut is an I/O error. While the network is gone, the client holds what it is asked.
 */
import { givesUpSoon, transport, untriedOverNetworks } from './kind.ts';

const names = 'iqn.2026-01.dev.forcedetach:';

export const iscsi = transport(
  {
    name: 'iscsi',
    does: 'by iSCSI, over a network of its own',
    ends: {
      module: 'iscsi_tcp',
      serves: 'initiator',
      // Without a timeout of its own it waits for ever, as a node does whose replacement_timeout is off.
      connect: (host, path) =>
        `driver=iscsi,transport=tcp,portal=${host}:3260,target=${names}${path},lun=1,` +
        `initiator-name=${names}node.${path},timeout=0,cache.direct=on,discard=unmap`,
      sysctls: givesUpSoon,
    },
    refuses: untriedOverNetworks,
  },
  {
    acl: {
      does: 'takes the initiator off the target’s list',
      worth: 'unfenced',
      victim: 'goes on',
    },
    session: { does: 'ends all sessions', worth: 'unfenced', victim: 'goes on' },
    'acl+session': {
      does: 'takes the initiator off the target’s list, then ends all sessions',
      worth: 'fenced',
      victim: 'hangs',
    },
    'read-only': { does: 'makes the LUN read-only', worth: 'fenced', victim: 'gets an error' },
    reservation: {
      does: 'reserves the LUN for writes, as the next node would (SCSI-3, registrants only)',
      worth: 'fenced',
      victim: 'gets an error',
    },
  },
);
