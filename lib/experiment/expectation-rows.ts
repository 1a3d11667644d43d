/**
 * The reasons why a verdict is no surprise, in the order in which they hold. Predicted from
 * Kubernetes' source and from the database on such disks; real runs are held against them
 * (test/full, docs/reference/disk-modes.md).
 */
import { database } from '../database/chosen.ts';
import { controlPlaneFaults } from '../fault-kinds.ts';
import type { Situation } from './situation.ts';
import type { VerdictWord } from './verdict.ts';

export interface Row {
  /** Each factor named has one of these values. */
  readonly when: { readonly [F in keyof Situation]?: readonly Situation[F][] };
  /** All that it can come to. */
  readonly verdicts: readonly VerdictWord[];
  readonly because: string;
}

const overlapping = ['exposed', 'lost', 'corrupt'] as const;
/** They cut at a detach, or a while after it: too late for a node that was let in before. */
const cuttingAtDetach = ['ack-early', 'fence-if-out-of-service', 'fenced'] as const;

/** Faults that leave the victim's kubelet at work. */
const sparing = [...controlPlaneFaults, 'kubelet-restart', 'none'] as const;

/** The node lives on: what the successor gets, and whether the victim's writes still arrive. */
export const partitionRows: readonly Row[] = [
  {
    when: { release: ['fenced first'] },
    verdicts: ['safe'],
    because: 'every path of the victim was cut before anything let a successor in',
  },
  {
    when: { fault: sparing, release: ['taint'] },
    verdicts: ['safe', ...overlapping],
    because:
      'the node is whole and unmounts, but the out-of-service taint does not wait until it has',
  },
  {
    when: { fault: sparing, remedy: ['delete-node'] },
    verdicts: ['safe', ...overlapping],
    because:
      'the node is whole and unmounts, but without its Node object it can tell nobody: the forced ' +
      'detach does not know',
  },
  {
    when: { fault: sparing },
    verdicts: ['safe'],
    because: 'the node is whole: its kubelet unmounts before the volume is detached',
  },
  {
    when: { release: ['kept by the pod'] },
    verdicts: ['safe'],
    because:
      'the Terminating pod keeps its attachment and its name: no second pod, no second mount',
  },
  {
    when: { release: ['kept by the lease'] },
    verdicts: ['safe'],
    because:
      'its Lease was written to: since 1.37 the node is not given up, nobody is evicted, and a ' +
      'volume in use on a healthy node stays attached',
  },
  {
    when: { attachment: ['perhaps uncertain'], release: ['kept by the controller'] },
    verdicts: ['safe', ...overlapping],
    because:
      'nobody forces a detach, but a new leader or a detach that timed out may leave the ' +
      'attachment uncertain, and the storage lets the next node in',
  },
  {
    when: { release: ['kept by the controller'] },
    verdicts: ['safe'],
    because:
      'with --disable-force-detach-on-timeout a volume in use stays attached: no second mount',
  },
  {
    when: { release: ['unasked'], attachWhileBusy: ['refused'] },
    verdicts: ['safe'],
    because:
      'nobody asked the storage to detach, so that it still counts the victim and refuses the next',
  },
  {
    when: { release: ['contested'] },
    verdicts: ['safe', ...overlapping],
    because:
      'two pods want the volume that nobody has any more: whichever node is attached first gets it',
  },
  {
    when: { selfFenced: ['in time'], selfFence: ['lease-read-only'] },
    verdicts: ['safe'],
    because: 'the sidecar ended the database and took its file system away in time',
  },
  {
    when: { selfFenced: ['in time'] },
    verdicts: ['safe', ...overlapping],
    because:
      'the sidecar ended the database in time, but the node’s clean unmount may still write over ' +
      'the successor’s file system',
  },
  {
    when: { release: ['untainted early'] },
    verdicts: ['safe', ...overlapping],
    because:
      'the pod GC looks every 20 s: it may or may not see the taint before it is taken away again',
  },
  {
    when: { disk: ['shared-file'], fileLocks: ['shared'] },
    verdicts: ['safe'],
    because: `nothing is attached, the successor mounts at once, and its ${database.server} waits for the lock`,
  },
  {
    when: { disk: ['shared-file'] },
    verdicts: overlapping,
    because: `each node has locks of its own: two ${database.server} open the same files`,
  },
  {
    when: { disk: ['reservation'] },
    verdicts: ['safe'],
    because: 'the successor’s staging pre-empts the victim, and its held writes are refused',
  },
  {
    when: { disk: ['exclusive'], watcherCheck: ['missing'] },
    verdicts: ['safe'],
    because: 'without an answer about watchers the staging fails: no second mount, no service',
  },
  {
    when: { disk: ['exclusive'], link: ['survives'] },
    verdicts: ['safe'],
    because: 'the victim still watches the image: the staging is refused until it has unmounted',
  },
  {
    when: { release: ['unasked'], disk: cuttingAtDetach },
    verdicts: overlapping,
    because: 'nobody asked the storage to detach, so that it cuts nobody off and lets the next in',
  },
  {
    when: { release: ['raced'], attachWhileBusy: ['granted'], disk: cuttingAtDetach },
    verdicts: ['safe', ...overlapping],
    because:
      'whether the storage was asked to detach, and cut the victim off, before the finalizer was ' +
      'gone is chance; the next node is let in either way',
  },
  {
    when: { attachment: ['perhaps uncertain'], disk: cuttingAtDetach },
    verdicts: ['safe', ...overlapping],
    because:
      'a new leader or a detach that timed out may leave the attachment uncertain: the storage ' +
      'lets the next node in before it is asked to cut the victim off',
  },
  {
    when: { disk: ['pending-while-busy'], attachWhileBusy: ['refused'] },
    verdicts: ['safe'],
    because: 'neither detach nor attach elsewhere is granted while the victim has it mounted',
  },
  {
    when: { disk: ['fence-if-out-of-service'], release: ['taint'] },
    verdicts: ['safe'],
    because: 'the taint is there, so the detach cuts the victim off before it answers',
  },
  {
    when: { disk: ['fenced'], accessMode: ['ReadWriteOnce', 'ReadWriteOncePod'] },
    verdicts: ['safe'],
    because: 'the detach comes before the attach and cuts the victim off; held writes are refused',
  },
  {
    when: { disk: ['fenced'], release: ['taint'] },
    verdicts: ['safe'],
    because: 'the detach does not wait, and cuts the victim off long before a mount is ready',
  },
  {
    when: {
      disk: ['ack-early'],
      accessMode: ['ReadWriteOnce', 'ReadWriteOncePod'],
      cut: ['at once'],
    },
    verdicts: ['safe'],
    because: 'the cut comes before the successor can have mounted',
  },
  {
    when: {
      disk: ['ack-early'],
      accessMode: ['ReadWriteOnce', 'ReadWriteOncePod'],
      cut: ['soon', 'before the heal'],
      link: ['stalls', 'errors'],
    },
    verdicts: ['safe'],
    because: 'nothing of the victim arrives until it is cut off, and its held writes are refused',
  },
  {
    when: { fault: ['freeze'], filesystem: ['ext4-mmp'] },
    verdicts: ['safe', ...overlapping],
    because:
      'a frozen container’s kernel still renews the multiple mount protection block; a machine ' +
      'that stands still does not',
  },
  {
    when: { fault: ['cpu-starvation'] },
    verdicts: ['safe', ...overlapping],
    because:
      'a starved kubelet may be Ready and unmount in time, or be given up while its database writes',
  },
  {
    when: { fault: ['flapping-partition'] },
    verdicts: ['safe', ...overlapping],
    because:
      'a node that is Ready when the wait is over is left to unmount, one that is off is not',
  },
  {
    when: { filesystem: ['ext4-mmp'], link: ['survives'] },
    verdicts: ['safe', 'exposed'],
    because:
      'the victim renews its multiple mount protection block: the second mount is refused, though ' +
      'its node has the volume',
  },
  {
    when: { release: ['raced'] },
    verdicts: ['safe', ...overlapping],
    because:
      'the attacher acts within a tenth of a second of the deletion: whether the storage was asked ' +
      'to detach before the finalizer was gone is chance',
  },
  {
    when: { link: ['errors'] },
    verdicts: overlapping,
    because:
      `the victim’s ${database.server} dies of I/O errors, yet its file system is still mounted when the path ` +
      'is healed: what it writes until its unmount decides',
  },
  {
    when: {
      disk: ['ack-early'],
      release: ['taint'],
      cut: ['at once', 'soon', 'before the heal'],
      link: ['survives'],
    },
    verdicts: ['safe', ...overlapping],
    because:
      'both write until the late cut, unless the new pod’s kubelet waits out its status period ' +
      'of 10 s before it mounts',
  },
  {
    when: { disk: ['ack-early'], cut: ['soon'], link: ['survives'] },
    verdicts: ['safe', ...overlapping],
    because: 'the cut and the successor’s first write come within the same seconds',
  },
  {
    when: { disk: ['ack-early'], cut: ['at once', 'before the heal'], link: ['survives'] },
    verdicts: overlapping,
    because: 'both write until the late cut',
  },
  {
    when: { victim: ['idle'] },
    verdicts: overlapping,
    because: 'both could write; an idle victim has few dirty pages, and may do no harm',
  },
  {
    when: { link: ['stalls'] },
    verdicts: overlapping,
    because: 'the victim’s held writes are replayed over the successor’s at the heal',
  },
  {
    when: { accessMode: ['ReadWriteMany'] },
    verdicts: overlapping,
    because: 'declared ReadWriteMany, the volume is attached elsewhere before it is detached',
  },
  {
    when: { fault: ['freeze'] },
    verdicts: overlapping,
    because: 'thawed after the hand-over, the victim writes what it had in its caches',
  },
  {
    when: {},
    verdicts: overlapping,
    because: 'the victim writes on while the successor writes',
  },
];
