/** Which verdicts are no surprise, and why: of the reasons (expectation-rows.ts) the first that fits. */
import { losesPower } from '../fault-kinds.ts';
import { crashRows, partitionRows, type Row, type Situation } from './expectation-rows.ts';
import { releaseOf } from './release.ts';
import type { Scenario } from './scenario.ts';
import type { VerdictWord } from './verdict.ts';

/** A successor needs more than this from the detach's answer to its first write. */
const soonestMountMs = 500;

function situationOf(scenario: Scenario): Situation {
  const { cutAfterMs, overlapMs, rate } = scenario;
  const beforeHeal = cutAfterMs <= overlapMs ? 'before the heal' : 'late';
  return {
    ...scenario,
    victim: rate === 0 ? 'idle' : 'busy',
    cut: cutAfterMs <= soonestMountMs ? 'at once' : beforeHeal,
    release: releaseOf(scenario),
    selfFenced: selfFenced(scenario),
  };
}

/** The sidecar's look, its kill and the remount, on a machine that keeps time. */
const selfFenceTakesMs = 2000;
const standStill: readonly Scenario['fault'][] = ['freeze', 'cpu-starvation'];

function selfFenced(scenario: Scenario): Situation['selfFenced'] {
  const { selfFence, selfFenceAfterMs, graceMs, fault, link } = scenario;
  if (selfFence === 'off' || standStill.includes(fault) || link !== 'survives') return 'never';
  return selfFenceAfterMs + selfFenceTakesMs <= graceMs ? 'in time' : 'late';
}

const fits = ({ when }: Row, situation: Situation): boolean =>
  Object.entries(when).every(([factor, values]) =>
    (values as readonly unknown[]).includes(situation[factor as keyof Situation]),
  );

export interface Expectation {
  readonly verdicts: readonly VerdictWord[];
  readonly because: string;
}

export function expectationOf(scenario: Scenario): Expectation {
  const situation = situationOf(scenario);
  const rows = losesPower(scenario.fault) ? crashRows : partitionRows;
  const row = rows.find((each) => fits(each, situation));
  if (row === undefined) throw new Error('the last row fits everything');
  return row;
}

/** For experiment files. */
export const expectedVerdicts = (scenario: Scenario): readonly VerdictWord[] =>
  expectationOf(scenario).verdicts;
