/**
 * A run for every mode of disk, link, access mode, file system and loss of power, with the controls:
 * what test:full runs on kind and docs/reference/disk-modes.md tells. Timers are shortened in all of them.
 */
import type { MeasuredCase } from './measured-case.ts';

const partition = (
  name: string,
  flags: string,
  secondMount: boolean,
  shows: string,
): MeasuredCase => ({ name, experiment: 'network-partition', flags, shows, secondMount });

const crash = (name: string, flags: string, secondMount: boolean, shows: string): MeasuredCase => ({
  name,
  experiment: 'node-crash',
  flags,
  shows,
  secondMount,
});

export const diskModeCases: readonly MeasuredCase[] = [
  // Controls: damage that must be seen, and runs that must be safe.
  partition('unfenced', '', true, 'no fence: both nodes write'),
  partition('no-remedy', '--remedy none', false, 'eviction alone does not detach the volume'),
  partition(
    'fenced',
    '--disk fenced',
    true,
    'the old node is cut off before the detach is answered',
  ),

  // Detach modes.
  partition(
    'ack-early',
    '--disk ack-early',
    true,
    'the answer comes 10 s before the cut: both can write',
  ),
  partition(
    'ack-early-at-once',
    '--disk ack-early --cut-after 0s',
    true,
    'an early answer is harmless if the cut comes before the second mount',
  ),
  partition(
    'fence-if-out-of-service',
    '--disk fence-if-out-of-service',
    true,
    'without the taint this storage does not fence',
  ),
  partition(
    'fence-if-out-of-service-tainted',
    '--disk fence-if-out-of-service --remedy out-of-service',
    true,
    'with the taint it fences',
  ),
  partition(
    'pending-while-busy',
    '--disk pending-while-busy',
    false,
    'the detach is refused while the node is running: data is safe, and no client is served',
  ),
  partition('exclusive', '--disk exclusive', false, 'a running watcher blocks the next node'),
  partition(
    'exclusive-check-missing',
    '--disk exclusive --watcher-check missing',
    false,
    'a check without an answer blocks the next node',
  ),
  partition(
    'reservation',
    '--disk reservation',
    true,
    'the new node’s reservation cuts the old one off',
  ),
  partition(
    'shared-file',
    '--disk shared-file',
    true,
    'no attachment, no wait: both nodes mount, and only MySQL’s file lock protects',
  ),
  partition(
    'shared-file-local-locks',
    '--disk shared-file --file-locks local',
    true,
    'without common locks both servers open the same files',
  ),

  // The storage link goes with the network.
  partition('unfenced-stalls', '--link stalls', true, 'held writes arrive at the heal'),
  partition(
    'unfenced-errors',
    '--link errors',
    true,
    'I/O errors end the old database; at the heal its path is open again',
  ),
  partition(
    'fenced-stalls',
    '--disk fenced --link stalls',
    true,
    'a fence also refuses writes that were held before it',
  ),
  partition(
    'exclusive-stalls',
    '--disk exclusive --link stalls',
    true,
    'a silent watcher expires, and its held writes arrive at the heal',
  ),
  partition(
    'exclusive-errors',
    '--disk exclusive --link errors',
    true,
    'the same with failing I/O',
  ),
  partition(
    'reservation-stalls',
    '--disk reservation --link stalls',
    true,
    'pre-emption aborts what was held',
  ),
  partition(
    'pending-while-busy-stalls',
    '--disk pending-while-busy --link stalls',
    false,
    'a stalled mount still counts as in use',
  ),

  // Access modes.
  partition(
    'read-write-once-pod',
    '--access-mode ReadWriteOncePod',
    true,
    'ReadWriteOncePod does not protect from a lost node',
  ),
  partition(
    'fenced-read-write-many',
    '--disk fenced --access-mode ReadWriteMany',
    true,
    'a ReadWriteMany volume is attached before it is detached: the fence comes too late',
  ),
  partition(
    'exclusive-read-write-many',
    '--disk exclusive --access-mode ReadWriteMany',
    false,
    'the watcher check also protects a ReadWriteMany volume',
  ),
  partition(
    'reservation-read-write-many',
    '--disk reservation --access-mode ReadWriteMany',
    true,
    'so does a reservation',
  ),

  // File systems.
  partition('xfs', '--fs xfs', true, 'XFS does not fence'),
  partition('xfs-fenced', '--fs xfs --disk fenced', true, 'XFS on a disk that fences'),
  partition('mmp', '--fs ext4-mmp', false, 'ext4 with mount protection refuses the second mount'),
  partition(
    'mmp-stalls',
    '--fs ext4-mmp --link stalls',
    true,
    'mount protection treats a silent node as dead',
  ),

  // Losses of power.
  crash('crash', '--keep-writes', true, 'stock MySQL on an honest disk loses nothing'),
  crash('crash-drops', '--power-loss drops', true, 'also when the drive’s cache is lost'),
  crash('crash-reorders', '--power-loss reorders', true, 'also when it was written out of order'),
  crash(
    'crash-tears',
    '--power-loss tears',
    true,
    'a torn write: the doublewrite copy is not always flushed before its page',
  ),
  crash('crash-xfs', '--fs xfs --power-loss drops', true, 'the same on XFS'),
  crash('crash-trx-commit-2', '--trx-commit 2', true, 'MySQL acknowledged too early'),
  crash(
    'crash-flushes-ignored',
    '--flushes ignored --power-loss drops',
    true,
    'no setting protects on a disk that ignores flushes',
  ),
  crash(
    'crash-pending-while-busy',
    '--disk pending-while-busy',
    true,
    'a dead node has nothing mounted: the detach goes through',
  ),
  crash(
    'crash-exclusive',
    '--disk exclusive',
    true,
    'a dead watcher expires after 30 s, and the next node mounts',
  ),
];
