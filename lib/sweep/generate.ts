/**
 * The index-th schedule of a sweep: drawn anew, or one of the corpus with a few of its factors drawn
 * anew. It depends on the sweep's seed, the index and the corpus alone.
 */
import type { DiskMode } from '../disk-modes/index.ts';
import type { Scenario } from '../experiment/scenario.ts';
import { Draws } from './draws.ts';
import { factors } from './factors.ts';
import { plainScenario, settle, type Fields } from './settle.ts';

export interface Schedule {
  readonly index: number;
  readonly scenario: Scenario;
  readonly seed: string;
}

/** Scenarios that showed what is rarely seen. */
export type Corpus = readonly Scenario[];

/** So often the corpus is taken, where there is one. */
const corpusShare = 0.3;
/** So many of its factors are drawn anew, at most. */
const mostMutations = 3;
/** Of the other factors a schedule draws none, a few, or all. */
const extraShares = [0, 0.1, 1];

export interface Source {
  readonly seed: string;
  /** `sweepKey` of the seed. */
  readonly key: number;
  readonly corpus: Corpus;
  /** The disk of every schedule. Default: drawn. */
  readonly disk?: DiskMode | undefined;
}

export function scheduleAt(sweep: Source, index: number): Schedule {
  const draws = new Draws(sweep.key, index);
  const { corpus, disk } = sweep;
  const isMutant = corpus.length > 0 && draws.chance(corpusShare);
  const drawn = isMutant ? mutantOf(draws.pick(corpus), draws) : drawnWith(draws);
  const scenario = settle(disk === undefined ? drawn : { ...drawn, disk });
  return { index, scenario, seed: `${sweep.seed}/${index}` };
}

function drawnWith(draws: Draws): Scenario {
  const share = draws.pick(extraShares);
  const drawn: Fields = { ...plainScenario };
  for (const { field, draw, isAsked } of factors) {
    if (isAsked || draws.chance(share)) drawn[field] = draw(draws);
  }
  return drawn as Scenario;
}

function mutantOf(parent: Scenario, draws: Draws): Scenario {
  const mutant: Fields = { ...parent };
  for (let left = draws.int(1, mostMutations); left > 0; left--) {
    const { field, draw } = draws.pick(factors);
    mutant[field] = draw(draws);
  }
  return mutant as Scenario;
}
