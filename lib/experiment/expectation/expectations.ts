/**
 * Which verdicts are no surprise, and why: of the reasons the first that fits. Predicted from
 * Kubernetes' source and from the database on such disks; real runs are held against them
 * (test/full, docs/reference/disk-modes.md).
 */
import { losesPower } from '../../fault-kinds.ts';
import { crashRows } from './crash-rows.ts';
import { diskRows } from './disk-rows.ts';
import type { Row } from './expectation-row.ts';
import { overlapRows } from './overlap-rows.ts';
import { releaseRows } from './release-rows.ts';
import type { Scenario } from '../scenario.ts';
import { situationOf, type Situation } from './situation.ts';
import type { VerdictWord } from '../verdict/verdict.ts';

/** The node lives on: what the successor gets, and whether the victim's writes still arrive. */
const partitionRows: readonly Row[] = [...releaseRows, ...diskRows, ...overlapRows];

const fits = ({ when }: Row, situation: Situation): boolean =>
  Object.entries(when).every(([factor, values]) =>
    (values as readonly unknown[]).includes(situation[factor as keyof Situation]),
  );

export interface Expectation {
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
  const situation = situationOf(scenario);
  const rows = losesPower(scenario.fault) ? crashRows : partitionRows;
  const row = rows.find((each) => fits(each, situation));
  if (row === undefined) throw new Error('the last row fits everything');
  const { verdicts, because } = row;
  return { verdicts, because, isRace: gradesIn(verdicts) > 1 };
}
