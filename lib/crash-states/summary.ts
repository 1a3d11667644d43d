/** All states of a run in a few numbers, and what they prove. */
import { powerLosses, type PowerLoss } from '../disk-kinds.ts';
import type { Scenario } from '../experiment/scenario.ts';
import { worst, type VerdictWord } from '../experiment/verdict.ts';
import type { StateResult } from './explore.ts';

export interface PolicySummary {
  readonly policy: PowerLoss;
  readonly states: number;
  /** States that lost acknowledged commits and are sound otherwise. */
  readonly lost: number;
  /** States with a broken structure. */
  readonly corrupt: number;
  /** Those of the corrupt ones on which mysqld could not start. */
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
  /** Of the worst state; inconclusive where a state could not be read and none is damaged. */
  readonly verdict: VerdictWord;
  readonly policies: readonly PolicySummary[];
  /** The most severe state, and of those the one that lost most; undefined where all are safe. */
  readonly worst?: StateResult;
}

export function summarize(results: readonly StateResult[]): Summary {
  const words = results.map(({ verdict }) => verdict);
  const proven = words.filter((word) => word !== 'inconclusive');
  const safety = worst(proven);
  const undecided = safety === 'safe' && (proven.length < words.length || words.length === 0);
  const bad = results.filter(({ verdict }) => verdict === 'lost' || verdict === 'corrupt');
  const [worstState] = bad
    .filter(({ verdict }) => verdict === safety)
    .toSorted((a, b) => b.lost - a.lost || a.number - b.number);
  return {
    verdict: undecided ? 'inconclusive' : safety,
    policies: powerLosses
      .map((policy) => ofPolicy(policy, results))
      .filter(({ states }) => states > 0),
    ...(worstState === undefined ? {} : { worst: worstState }),
  };
}

/** What a run with these settings may show: a commit is promised only where it was flushed. */
export function expectedOf({
  trxCommit,
  flushes,
}: Pick<Scenario, 'trxCommit' | 'flushes'>): VerdictWord[] {
  if (flushes === 'ignored') return ['lost', 'corrupt'];
  return trxCommit === 1 ? ['safe'] : ['lost'];
}

function ofPolicy(policy: PowerLoss, all: readonly StateResult[]): PolicySummary {
  const results = all.filter((result) => result.policy === policy);
  const count = (test: (result: StateResult) => boolean): number => results.filter(test).length;
  const lost = count(({ verdict }) => verdict === 'lost');
  const corrupt = count(({ verdict }) => verdict === 'corrupt');
  const inconclusive = count(({ verdict }) => verdict === 'inconclusive');
  const clean = lost + corrupt + inconclusive === 0 && results.length > 0;
  return {
    policy,
    states: results.length,
    lost,
    corrupt,
    notStarted: count(({ verdict, serverStarted }) => verdict === 'corrupt' && !serverStarted),
    inconclusive,
    ...(clean ? { shareBelow: boundOfNone(results.length) } : {}),
  };
}

/** Exact (Clopper–Pearson) upper bound for none of n, one-sided 95 %: about 3 / n. */
export const boundOfNone = (n: number): number => 1 - 0.05 ** (1 / n);
