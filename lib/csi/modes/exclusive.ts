/**
 * A detach is bookkeeping, and a node may stage only while no other node watches the image, as
 * ceph-csi asks RBD (rbd_attach.go, waitForrbdImage). Who has the image open watches it; who falls
 * silent is a watcher for 30 s more. Where the question gets no answer, staging fails, unless no
 * other node ever had the image.
 *
 * As in ceph-csi the question and the opening are two steps: of two nodes that stage at once both
 * may find nobody and both open. Nothing here keeps them from it; a test shows it. ceph-csi asks
 * again for about 70 s within one call; here kubelet's next try asks again.
 */
import { status } from '@grpc/grpc-js';
import type { PathStatus } from '../array-port.ts';
import { CallError } from '../grpc.ts';
import { neededRecord } from '../record-store.ts';
import type { DetachMode, ModeRequest } from './mode.ts';

/** Ceph's osd_client_watch_timeout: the OSD forgets a client that it has not heard for so long. */
const watchTimeoutNs = 30e9;

export const exclusive: DetachMode = {
  name: 'exclusive',
  async stage({ backend, volume, node, attributes, notes }: ModeRequest) {
    if (attributes.watcherCheck === 'missing') {
      const { attachments } = await neededRecord(backend.layout, volume);
      if (attachments.every((each) => each.node === node)) return;
      throw new CallError(status.INTERNAL, `whether ${volume} is watched is not known: no answer`);
    }
    const { clockNs } = await backend.array.ping();
    const paths = await backend.array.status(volume);
    const watchers = paths.filter((path) => path.node !== node && watches(path, clockNs));
    notes['watchers'] = watchers.map((path) => `${path.node}/${path.generation}`);
    if (watchers.length > 0) {
      const nodes = [...new Set(watchers.map((path) => path.node))].join(', ');
      throw new CallError(status.INTERNAL, `image ${volume} is still being used by ${nodes}`);
    }
  },
  detach: () => Promise.resolve([]),
};

/** A clean close ends a watch at once; a cut or a link that went away only lets it run out. */
export function watches({ state, cutNs, linkNs }: PathStatus, nowNs: number): boolean {
  const silentSinceNs = Math.min(cutNs ?? Infinity, linkNs ?? Infinity);
  if (silentSinceNs === Infinity) return state === 'open';
  return nowNs - silentSinceNs < watchTimeoutNs;
}
