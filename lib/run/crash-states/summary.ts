/** All states of a run in a few numbers, and what they prove. */
import { powerLosses, type PowerLoss } from '../../scenario/index.ts';
import { worst, type VerdictWord } from '../../judge/index.ts';
import type { StateResult } from './explore.ts';

export interface PolicySummary {
  readonly policy: PowerLoss;
  readonly verdict: VerdictWord;
  readonly states: number;
  /** Those at whose moment something was not flushed: with nothing unflushed all policies agree. */
  readonly withUnflushed: number;
  /** States that lost acknowledged commits and are sound otherwise. */
  readonly lost: number;
  /** States with a broken structure. */
  readonly corrupt: number;
  /** Those of the corrupt ones on which the server could not start. */
  readonly notStarted: number;
  /** States that could not be read, though nothing in them was proven damaged. */
  readonly inconclusive: number;
  /**
   * With no damaged state among n: the share of damaged ones among all moments as they were drawn
   * is below this, with 95 % confidence. Absent with damage, or with a gap, or without states.
   */
  readonly shareBelow?: number;
}

export interface Summary {
  /** Verdict of the worst state; inconclusive where a state could not be read and none is damaged. */
  readonly verdict: VerdictWord;
  readonly policies: readonly PolicySummary[];
  /** The most severe state, and of those the one that lost most; undefined where all are safe. */
  readonly worst?: StateResult;
}

export function summarizeStates(results: readonly StateResult[]): Summary {
  const verdict = verdictOf(results);
  const isDamage = verdict === 'lost' || verdict === 'corrupt';
  const [worstState] = results
    .filter((each) => isDamage && each.verdict === verdict)
    .toSorted((a, b) => b.lost - a.lost || a.number - b.number);
  return {
    verdict,
    policies: powerLosses
      .map((policy) => ofPolicy(policy, results))
      .filter(({ states }) => states > 0),
    ...(worstState === undefined ? {} : { worst: worstState }),
  };
}

/** Damage stands; without any, one state that could not be read leaves it open. */
function verdictOf(results: readonly StateResult[]): VerdictWord {
  const proven = results.map(({ verdict }) => verdict).filter((word) => word !== 'inconclusive');
  const safety = worst(proven);
  const isOpen = proven.length < results.length || results.length === 0;
  return safety === 'safe' && isOpen ? 'inconclusive' : safety;
}

function ofPolicy(policy: PowerLoss, all: readonly StateResult[]): PolicySummary {
  const results = all.filter((result) => result.policy === policy);
  const count = (test: (result: StateResult) => boolean): number => results.filter(test).length;
  const verdict = verdictOf(results);
  const ended = (word: VerdictWord): number => count((each) => each.verdict === word);
  return {
    ...{ policy, verdict, states: results.length },
    withUnflushed: count(({ unflushed }) => unflushed > 0),
    lost: ended('lost'),
    corrupt: ended('corrupt'),
    notStarted: count((each) => each.verdict === 'corrupt' && !each.serverStarted),
    inconclusive: ended('inconclusive'),
    ...(verdict === 'safe' ? { shareBelow: boundOfNone(results.length) } : {}),
  };
}

/** Exact (Clopper–Pearson) upper bound for none of n, one-sided 95 %: about 3 / n. */
export const boundOfNone = (n: number): number => 1 - 0.05 ** (1 / n);
