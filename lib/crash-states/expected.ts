/** What the crash states of a run may show: only what was flushed is promised. */
import { database } from '../database/chosen.ts';
import type { PowerLoss } from '../disk-kinds.ts';
import type { Scenario } from '../experiment/scenario.ts';
import type { VerdictWord } from '../experiment/verdict/verdict.ts';
import type { Summary } from './summary.ts';

type Promises = Pick<Scenario, 'trxCommit' | 'flushes'>;

/** Verdicts of all states together that are no surprise. */
export function expectedOf(
  { flushes, ...choice }: Promises,
  policies: readonly PowerLoss[],
): VerdictWord[] {
  if (flushes === 'ignored') return ['lost', 'corrupt'];
  const promised: VerdictWord = database.durability.keepsAll(choice) ? 'safe' : 'lost';
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

/** A page may be torn while its copy is lost with the cache: docs/explanation/crash-states.md. */
function allowedOf({ flushes, ...choice }: Promises, policy: PowerLoss): VerdictWord[] {
  if (flushes === 'ignored') return ['safe', 'lost', 'corrupt'];
  const promised: VerdictWord[] = database.durability.keepsAll(choice)
    ? ['safe']
    : ['safe', 'lost'];
  return policy === 'tears' ? [...promised, 'corrupt'] : promised;
}
