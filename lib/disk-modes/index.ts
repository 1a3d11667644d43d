/** The modes of disk by name: how each answers Kubernetes, and what it does to a node that still writes. */
import type { DiskModeDeclaration } from './mode.ts';

/** In the order of docs/reference/drivers.md, from the one that protects least. */
const declared = [
  {
    name: 'unfenced',
    does: 'takes a detach as bookkeeping, and nothing cuts the old node off',
  },
  /** From the answer on no path can be opened. */
  {
    name: 'ack-early',
    does: 'answers a detach at once and cuts the old node off a while later',
    more: '(`cutAfter`)',
    detach: { cuts: 'after-answer' },
  },
  /**
   * A detach cuts the node off where an administrator has said that it is down, by the out-of-service
   * taint; otherwise it is bookkeeping. A node that is deleted has no taint.
   */
  {
    name: 'fence-if-out-of-service',
    does: 'cuts the old node off at a detach only where it carries the out-of-service taint',
    detach: { cuts: 'where-out-of-service' },
  },
  {
    name: 'fenced',
    does: 'cuts the old node off before it answers a detach (reservation, blocklist, access list)',
    detach: { cuts: 'before-answer' },
  },
  /**
   * A detach is refused for as long as the node has the volume mounted, as a cloud's volume stays
   * `detaching`; and so is an attach elsewhere, whatever access mode was declared: Kubernetes tries
   * one as soon as a detach has failed. What is not busy is cut, so that detached means it.
   *
   * Where an attach elsewhere is granted all the same, the failed detach is what lets the second writer
   * in: Kubernetes then counts the first attachment as uncertain, and guards against confirmed ones only.
   */
  {
    name: 'pending-while-busy',
    does: 'refuses detach and attach elsewhere while the old node has the volume mounted',
    attach: { refusedWhile: 'other-has-it-mounted' },
    detach: { refusedWhile: 'node-has-it-mounted', cuts: 'before-answer' },
  },
  /**
   * A detach is bookkeeping, and a node may stage only while no other node watches the image, as
   * ceph-csi asks RBD (rbd_attach.go, waitForrbdImage). Who has the image open watches it; who falls
   * silent is a watcher for a while more. Where the question gets no answer, staging fails, unless no
   * other node ever had the image.
   *
   * As in ceph-csi the question and the opening are two steps: of two nodes that stage at once both
   * may find nobody and both open. Nothing here keeps them from it; a test shows it. ceph-csi asks
   * again for about 70 s within one call; here kubelet's next try asks again.
   */
  {
    name: 'exclusive',
    does: 'lets a node stage the volume only when no other node watches it any more',
    more: '(RBD); a node whose link is silent for 30 s watches no more',
    stage: { refusedWhile: 'other-watches' },
  },
  /**
   * Staging registers the node and pre-empts the others: their paths are cut, and what they have under
   * way is aborted, as by PREEMPT AND ABORT of SCSI-3 persistent reservations and NVMe's reservation
   * acquire. A detach is bookkeeping. Stricter than the standards in one thing: a node that was
   * pre-empted needs a new attachment, and cannot register again by itself.
   */
  {
    name: 'reservation',
    does: 'lets the next node pre-empt the old one, whose writes then fail',
    more: '(SCSI-3 persistent reservations, NVMe); it does so when it stages the volume',
    stage: { cutsOthers: true },
  },
  /**
   * A shared directory without an attach phase, as NFS: the driver files.forcedetach.dev publishes it
   * (lib/csi/files-node.ts), and Kubernetes has nothing to attach. So nobody is asked to detach it either.
   */
  {
    name: 'shared-file',
    does: 'is a shared directory, which nothing attaches, detaches or fences',
    more: '(NFS)',
    isDirectory: true,
  },
] as const satisfies readonly DiskModeDeclaration[];

export type DiskMode = (typeof declared)[number]['name'];
export const diskModes: readonly DiskMode[] = declared.map(({ name }) => name);

/** By name. */
export const diskModeOf = Object.fromEntries(declared.map((mode) => [mode.name, mode])) as Readonly<
  Record<DiskMode, DiskModeDeclaration<DiskMode>>
>;
