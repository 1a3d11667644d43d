/**
 * Shrinks a schedule: the fewest fields that differ from their defaults, events instead of times,
 * such that it still shows what it was found for.
 */
import type { Moment, Scenario } from '../experiment/scenario.ts';
import { remedyEvents } from '../remedy-kinds.ts';
import { play, type Outcome } from './play.ts';
import { changedFields, plainScenario, settle } from './settle.ts';

export interface ShrinkOptions {
  readonly scenario: Scenario;
  readonly seed: string;
  /** Whether an outcome still shows it. */
  readonly shows: (outcome: Outcome) => boolean;
}

export interface Shrunk {
  readonly scenario: Scenario;
  readonly outcome: Outcome;
  /** Of so many other seeds how many show it as well: how much of it is chance. */
  readonly again: { readonly shown: number; readonly of: number };
}

const moments: readonly Moment[] = ['terminating', 'pod-gone', 'half-wait', 'force-detach'];
/** Instead of a time: the first that still shows it. */
const simplerValues: Partial<Readonly<Record<keyof Scenario, readonly unknown[]>>> = {
  remedyAt: remedyEvents,
  alsoAt: moments,
  rebootAt: ['force-detach'],
  untaintAt: ['heal', 'kept'],
  rate: [25],
  remedy: ['force-delete'],
  fault: ['network-partition'],
};
const otherSeeds = 20;

export function shrink({ scenario, seed, shows }: ShrinkOptions): Shrunk {
  let best = { scenario, outcome: play(scenario, seed) };
  const accepts = (candidate: Scenario): boolean => {
    if (isSame(candidate, best.scenario)) return false;
    const outcome = play(candidate, seed);
    if (!shows(outcome)) return false;
    best = { scenario: candidate, outcome };
    return true;
  };
  for (let goesOn = true; goesOn; ) {
    goesOn = false;
    for (const field of changedFields(best.scenario)) {
      // What was simplified on the way may have gone with another field.
      if (accepts(settle({ ...best.scenario, [field]: plainScenario[field] }))) goesOn = true;
    }
  }
  for (const field of changedFields(best.scenario)) {
    const values = simplerValues[field] ?? [];
    if (values.includes(best.scenario[field])) continue;
    values.some((value) => accepts(settle({ ...best.scenario, [field]: value })));
  }
  return { ...best, again: playAgain(best.scenario, seed, shows) };
}

function playAgain(
  scenario: Scenario,
  seed: string,
  shows: ShrinkOptions['shows'],
): Shrunk['again'] {
  const seeds = Array.from({ length: otherSeeds }, (_, n) => `${seed}+${n + 1}`);
  const shown = seeds.filter((each) => shows(play(scenario, each))).length;
  return { shown, of: seeds.length };
}

const isSame = (a: Scenario, b: Scenario): boolean =>
  (Object.keys(a) as (keyof Scenario)[]).every((field) => a[field] === b[field]);
