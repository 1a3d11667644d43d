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
  partition('unfenced', '', true, 'nothing stops the old node: both write'),
  partition('no-remedy', '--remedy none', false, 'eviction alone never detaches a volume'),
  partition('fenced', '--disk fenced', true, 'the cut before the answer is what keeps data safe'),

  // Detach modes.
  partition('ack-early', '--disk ack-early', true, 'an answer 10 s before the cut is 10 s of two'),
  partition(
    'ack-early-at-once',
    '--disk ack-early --cut-after 0s',
    true,
    'an early answer is harmless when the cut beats the mount',
  ),
  partition(
    'fence-if-out-of-service',
    '--disk fence-if-out-of-service',
    true,
    'a fence that hangs on a taint does not help who only force-deletes',
  ),
  partition(
    'fence-if-out-of-service-tainted',
    '--disk fence-if-out-of-service --remedy out-of-service',
    true,
    'the same fence with the taint set',
  ),
  partition(
    'pending-while-busy',
    '--disk pending-while-busy',
    false,
    'a disk that does not let go of a living node keeps its data, and no client is served',
  ),
  partition('exclusive', '--disk exclusive', false, 'a watcher that lives keeps the next node out'),
  partition(
    'exclusive-check-missing',
    '--disk exclusive --watcher-check missing',
    false,
    'a check that gets no answer must keep the volume closed',
  ),
  partition('reservation', '--disk reservation', true, 'the newcomer shuts the old node out'),
  partition(
    'shared-file',
    '--disk shared-file',
    true,
    'no attach, no wait: two nodes mount, and MySQL’s file lock alone decides',
  ),
  partition(
    'shared-file-local-locks',
    '--disk shared-file --file-locks local',
    true,
    'without common locks two databases open the same files',
  ),

  // The storage link goes with the network.
  partition('unfenced-stalls', '--link stalls', true, 'held writes arrive at the heal'),
  partition(
    'unfenced-errors',
    '--link errors',
    true,
    'I/O errors end the old database; at the heal its path is open again, with the mount that gave up',
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
    'a watcher that fell silent is no fence: its held writes arrive at the heal',
  ),
  partition(
    'exclusive-errors',
    '--disk exclusive --link errors',
    true,
    'the same where I/O fails instead of waiting',
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
    'a mount that can’t write is busy all the same',
  ),

  // Access modes.
  partition(
    'read-write-once-pod',
    '--access-mode ReadWriteOncePod',
    true,
    'ReadWriteOncePod guards pods on living nodes, not a lost one',
  ),
  partition(
    'fenced-read-write-many',
    '--disk fenced --access-mode ReadWriteMany',
    true,
    'declared ReadWriteMany, a volume is attached before it is detached: the fence comes too late',
  ),
  partition(
    'exclusive-read-write-many',
    '--disk exclusive --access-mode ReadWriteMany',
    false,
    'the watcher check holds where Kubernetes’ own gate was switched off',
  ),
  partition(
    'reservation-read-write-many',
    '--disk reservation --access-mode ReadWriteMany',
    true,
    'so does a reservation',
  ),

  // File systems.
  partition('xfs', '--fs xfs', true, 'XFS is no fence'),
  partition('xfs-fenced', '--fs xfs --disk fenced', true, 'XFS on a disk that fences'),
  partition('mmp', '--fs ext4-mmp', false, 'ext4 with MMP sees the other one, and does not mount'),
  partition(
    'mmp-stalls',
    '--fs ext4-mmp --link stalls',
    true,
    'MMP takes a silent node for a dead one',
  ),

  // Losses of power.
  crash('crash', '--keep-writes', true, 'stock MySQL on an honest disk loses nothing'),
  crash('crash-drops', '--power-loss drops', true, 'also when the drive’s cache is lost'),
  crash('crash-reorders', '--power-loss reorders', true, 'also when it was written out of order'),
  crash(
    'crash-tears',
    '--power-loss tears',
    true,
    'mostly also when a write is torn: the doublewrite copy is not always flushed before its page',
  ),
  crash('crash-xfs', '--fs xfs --power-loss drops', true, 'the same on XFS'),
  crash('crash-trx-commit-2', '--trx-commit 2', true, 'MySQL acknowledged too early'),
  crash(
    'crash-flushes-ignored',
    '--flushes ignored --power-loss drops',
    true,
    'a disk that ignores flushes can’t be made good by any setting',
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
    'a dead watcher is forgotten after 30 s, and the next node goes on',
  ),
];
