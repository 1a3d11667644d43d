/** What two writers of one disk come to, where nothing kept the second one out. */
import { overlapping, type ExpectationReason } from './situation.ts';

export const overlapRows: readonly ExpectationReason[] = [
  {
    when: { 'fault.kind': ['freeze'], 'volume.filesystem': ['ext4-mmp'] },
    verdicts: ['safe', ...overlapping],
    because:
      'a frozen container’s kernel still renews the multiple mount protection block; a machine ' +
      'that stands still does not',
  },
  {
    when: { 'fault.kind': ['cpu-starvation'] },
    verdicts: ['safe', ...overlapping],
    because:
      'a starved kubelet may be Ready and unmount in time, or be given up while its database writes',
  },
  {
    when: { 'fault.kind': ['flapping-partition'] },
    verdicts: ['safe', ...overlapping],
    because:
      'a node that is Ready when the wait is over is left to unmount, one that is off is not',
  },
  {
    when: { 'volume.filesystem': ['ext4-mmp'], 'fault.link': ['survives'] },
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
    when: { 'fault.link': ['errors'] },
    verdicts: overlapping,
    because:
      'the victim’s server dies of I/O errors, yet its file system is still mounted when the path ' +
      'is healed: what it writes until its unmount decides',
  },
  {
    when: {
      'disk.mode': ['ack-early'],
      release: ['taint'],
      cut: ['at once', 'soon', 'before the heal'],
      'fault.link': ['survives'],
    },
    verdicts: ['safe', ...overlapping],
    because:
      'both write until the late cut, unless the new pod’s kubelet waits out its status period ' +
      'of 10 s before it mounts',
  },
  {
    when: { 'disk.mode': ['ack-early'], cut: ['soon'], 'fault.link': ['survives'] },
    verdicts: ['safe', ...overlapping],
    because: 'the cut and the successor’s first write come within the same seconds',
  },
  {
    when: {
      'disk.mode': ['ack-early'],
      cut: ['at once', 'before the heal'],
      'fault.link': ['survives'],
    },
    verdicts: overlapping,
    because: 'both write until the late cut',
  },
  {
    when: { victim: ['idle'] },
    verdicts: overlapping,
    because: 'both could write; an idle victim has few dirty pages, and may do no harm',
  },
  {
    when: { 'fault.link': ['stalls'] },
    verdicts: overlapping,
    because: 'the victim’s held writes are replayed over the successor’s at the heal',
  },
  {
    when: { 'volume.accessMode': ['ReadWriteMany'] },
    verdicts: overlapping,
    because: 'declared ReadWriteMany, the volume is attached elsewhere before it is detached',
  },
  {
    when: { 'fault.kind': ['freeze'] },
    verdicts: overlapping,
    because: 'thawed after the hand-over, the victim writes what it had in its caches',
  },
  {
    when: {},
    verdicts: overlapping,
    because: 'the victim writes on while the successor writes',
  },
];
