/**
 * NBD: the array serves (lib/storage/csi/array/nbd.go), qemu-storage-daemon connects. What the array cut is an I/O
 * error. While the network is gone, the client holds what it is asked, and asks again afterwards.
 */
import { givesUpSoon, transport, untriedOverNetworks } from './kind.ts';

/** The client gives requests up after a day without a connection: no run lasts so long. */
const heldS = 86_400;
/** A first connection that is not there by then fails the call, and kubelet tries again. */
const openS = 10;

export const nbd = transport(
  {
    name: 'nbd',
    does: 'by NBD, over a network of its own',
    ends: {
      module: 'nbd',
      connect: (host, path) =>
        `driver=nbd,server.type=inet,server.host=${host},server.port=10809,export=${path},` +
        `reconnect-delay=${heldS},open-timeout=${openS},cache.direct=on,discard=unmap`,
      sysctls: givesUpSoon,
    },
    refuses: untriedOverNetworks,
  },
  {
    connection: { does: 'closes the connection', worth: 'unfenced', victim: 'goes on' },
    export: {
      does: 'closes the connection and offers the name no more',
      worth: 'fenced',
      victim: 'hangs',
    },
  },
);
