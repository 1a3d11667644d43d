/** Which verdicts are no surprise, and why: of the reasons (crash-rows.ts, expectation-rows.ts) the first that fits. */
import { losesPower } from '../fault-kinds.ts';
import { crashRows } from './crash-rows.ts';
import { partitionRows, type Row } from './expectation-rows.ts';
import type { Scenario } from './scenario.ts';
import { situationOf, type Situation } from './situation.ts';
import type { VerdictWord } from './verdict.ts';

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
