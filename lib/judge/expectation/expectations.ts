/**
 * Which verdicts are no surprise, and why: of the reasons the first that fits. Predicted from
 * Kubernetes' source and from the database on such disks; real runs are held against them
 * (test/full, docs/reference/disk-modes.md).
 */
import {
  databaseKindNamed,
  type FieldName,
  losesPower,
  type Scenario,
  valueAt,
} from '../../scenario/index.ts';
import { diskRows } from './disk-rows.ts';
import { situationOf, type ExpectationReason, type Situation } from './situation.ts';
import { overlapRows } from './overlap-rows.ts';
import { releaseRows } from './release-rows.ts';
import type { VerdictWord } from '../verdict/verdict.ts';

/** The node lives on: what the successor gets, and whether the victim's writes still arrive. */
const partitionRows: readonly ExpectationReason[] = [...releaseRows, ...diskRows, ...overlapRows];

const fits = ({ when }: ExpectationReason, situation: Situation): boolean =>
  Object.entries(when).every(([factor, values]) =>
    (values as readonly unknown[]).includes(
      valueAt(situation, factor as FieldName) ?? situation[factor as keyof Situation],
    ),
  );

interface Expectation {
  /** All that reasoning allows. */
  readonly verdicts: readonly VerdictWord[];
  /** They are of more than one grade, so that chance decides among them: see counted.ts. */
  readonly isRace: boolean;
  readonly because: string;
}

/** `lost` or `corrupt` is a matter of which page was hit: damage is one grade. */
const gradesIn = (verdicts: readonly VerdictWord[]): number =>
  new Set(verdicts.map((word) => (word === 'corrupt' ? 'lost' : word))).size;

export function expectationOf(scenario: Scenario): Expectation {
  const { expected } = databaseKindNamed(scenario.database.kind);
  if (expected !== undefined) {
    const { verdict, because } = expected;
    return { verdicts: [verdict], because, isRace: false };
  }
  const situation = situationOf(scenario);
  const rows = losesPower(scenario.fault.kind) ? crashRows : partitionRows;
  const row = rows.find((each) => fits(each, situation));
  if (row === undefined) throw new Error('the last row fits everything');
  const { verdicts, because } = losesPower(scenario.fault.kind) ? row : asWatched(row, situation);
  return { verdicts, because, isRace: gradesIn(verdicts) > 1 };
}

/** A watch that may end before the hand-over may see none. */
const asWatched = (row: ExpectationReason, { watchEnds }: Situation): ExpectationReason =>
  watchEnds === 'after the hand-over' || row.verdicts.includes('safe')
    ? row
    : {
        ...row,
        verdicts: ['safe', ...row.verdicts],
        because: `${row.because}; but the watch may end before the hand-over`,
      };

/** Which verdicts of a crash are no surprise, and why; in the order in which the reasons hold. */
const early = 'the database acknowledges before the log is on disk';

const damaged = ['lost', 'corrupt'] as const;

/** The node is dead at once: only what it had not given to the disk, or the disk lost, can be gone. */
const crashRows: readonly ExpectationReason[] = [
  {
    when: { 'disk.flushes': ['ignored'], 'fault.powerLoss': ['drops', 'reorders', 'tears'] },
    verdicts: damaged,
    because: 'the disk acknowledged flushes and lost what they were to make durable',
  },
  {
    when: { 'database.trxCommit': [0, 2], victim: ['busy'], 'fault.powerLoss': ['tears'] },
    verdicts: ['safe', ...damaged],
    because: `${early}, and a page may be torn`,
  },
  {
    when: { 'database.trxCommit': [0, 2], victim: ['busy'] },
    verdicts: ['safe', 'lost'],
    because: `${early}: a crash takes the tail, if there is one`,
  },
  {
    when: { 'fault.powerLoss': ['tears'] },
    verdicts: ['safe', 'corrupt'],
    // InnoDB with O_DIRECT, its default (Double_write::is_fsync_required of buf0dblwr.cc).
    because:
      'the database need not flush its spare copy of a page before it writes the page: both may ' +
      'be lost together',
  },
  {
    when: { 'disk.flushes': ['ignored'], 'fault.powerLoss': ['keeps'] },
    verdicts: ['safe'],
    because: 'the crash took nothing that the storage had, and a dead node writes no more',
  },
  {
    when: {},
    verdicts: ['safe'],
    because: 'an acknowledged commit was flushed, and a dead node writes no more',
  },
];
