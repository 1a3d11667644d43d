/** Which verdicts of a crash are no surprise, and why; in the order in which the reasons hold. */
import { database } from '../../database/chosen.ts';
import type { Row } from './expectation-row.ts';

const early = `${database.title} acknowledges before the log is on disk`;

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
    because: `${early}, and a page may be torn`,
  },
  {
    when: { trxCommit: [0, 2], victim: ['busy'] },
    verdicts: ['safe', 'lost'],
    because: `${early}: a crash takes the tail, if there is one`,
  },
  {
    when: { powerLoss: ['tears'] },
    verdicts: ['safe', 'corrupt'],
    because: database.durability.tornBecause,
  },
  {
    when: {},
    verdicts: ['safe'],
    because: 'an acknowledged commit was flushed, and a dead node writes no more',
  },
];
