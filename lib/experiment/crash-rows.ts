/** Which verdicts of a crash are no surprise, and why; in the order in which the reasons hold. */
import type { Row } from './expectation-row.ts';

const damaged = ['lost', 'corrupt'] as const;

/** The node is dead at once: only what it had not given to the disk, or the disk lost, can be gone. */
export const crashRows: readonly Row[] = [
  {
    when: { flushes: ['ignored'], powerLoss: ['drops', 'reorders', 'tears'] },
    verdicts: damaged,
    because: 'the disk acknowledged flushes and lost what they were to make durable',
  },
  {
    when: { trxCommit: [0, 2], victim: ['busy'], powerLoss: ['tears'] },
    verdicts: ['safe', ...damaged],
    because: 'MySQL acknowledges before the log is on disk, and a page may be torn',
  },
  {
    when: { trxCommit: [0, 2], victim: ['busy'] },
    verdicts: ['safe', 'lost'],
    because:
      'MySQL acknowledges before the log is on disk: a crash takes the tail, if there is one',
  },
  {
    when: { powerLoss: ['tears'] },
    verdicts: ['safe', 'corrupt'],
    because:
      'with O_DIRECT, its default, InnoDB does not flush the doublewrite copy before it writes ' +
      'the page (Double_write::is_fsync_required): both may be lost together',
  },
  {
    when: {},
    verdicts: ['safe'],
    because: 'an acknowledged commit was flushed, and a dead node writes no more',
  },
];
