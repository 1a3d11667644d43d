/**
 * A detach is bookkeeping, and a node may stage only while no other node watches the image, as
 * ceph-csi asks RBD (rbd_attach.go, waitForrbdImage). Who has the image open watches it; who falls
 * silent is a watcher for a while more. Where the question gets no
 * answer, staging fails, unless no other node ever had the image.
 *
 * As in ceph-csi the question and the opening are two steps: of two nodes that stage at once both
 * may find nobody and both open. Nothing here keeps them from it; a test shows it. ceph-csi asks
 * again for about 70 s within one call; here kubelet's next try asks again.
 */
import { choice } from '../field.ts';
import { diskMode } from './mode.ts';

/** Ceph's osd_client_watch_timeout: the OSD forgets a client that it has not heard for so long. */
export const watchTimeoutMs = 30_000;

export const exclusive = diskMode({
  name: 'exclusive',
  does: 'lets a node stage the volume only when no other node watches it',
  more: '(RBD); a node whose link is silent for 30 s watches no more',
  stage: { refusedWhile: 'other-watches' },
  fields: {
    watcherCheck: choice(['works', 'missing'], 'works', {
      about: 'whether the driver gets an answer when it checks for watchers',
      swept: {},
    }),
  },
});
