/** What the crash states of a run may show: only what was flushed is promised. */
import type { PowerLoss } from '../disk-kinds.ts';
import type { Scenario } from '../experiment/scenario.ts';
import type { VerdictWord } from '../experiment/verdict.ts';
import type { Summary } from './summary.ts';

type Promises = Pick<Scenario, 'trxCommit' | 'flushes'>;

/** Verdicts of all states together that are no surprise. */
export function expectedOf(
  { trxCommit, flushes }: Promises,
  policies: readonly PowerLoss[],
): VerdictWord[] {
  if (flushes === 'ignored') return ['lost', 'corrupt'];
  const promised: VerdictWord = trxCommit === 1 ? 'safe' : 'lost';
  return policies.includes('tears') ? [promised, 'corrupt'] : [promised];
}

/** Also each policy by itself shows nothing but what it may. */
export function isExpected(promises: Promises, { verdict, policies }: Summary): boolean {
  const all = policies.map(({ policy }) => policy);
  return (
    expectedOf(promises, all).includes(verdict) &&
    policies.every((each) => allowedOf(promises, each.policy).includes(each.verdict))
  );
}

/**
 * With innodb_flush_method=O_DIRECT, the default, InnoDB does not flush its doublewrite file before
 * it writes the pages in their places (buf0dblwr.cc, `is_fsync_required`): a page may be torn while
 * its copy is lost with the cache. See docs/explanation/crash-states.md.
 */
function allowedOf({ trxCommit, flushes }: Promises, policy: PowerLoss): VerdictWord[] {
  if (flushes === 'ignored') return ['safe', 'lost', 'corrupt'];
  const promised: VerdictWord[] = trxCommit === 1 ? ['safe'] : ['safe', 'lost'];
  return policy === 'tears' ? [...promised, 'corrupt'] : promised;
}
