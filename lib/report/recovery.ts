/** The way from the fault to the successor's first commit, split at the phases that happened. */
import type { Verdict } from '../experiment/verdict/verdict.ts';
import type { RecoveryStep } from './types.ts';

/** In their order of time. */
export function recoverySteps({ phases }: Pick<Verdict, 'phases'>): RecoveryStep[] {
  const named = [
    ['detection', phases.notReady],
    ['eviction', phases.evicted],
    ['removal', phases.podRemoved],
    ['detach', phases.detached],
    ['attach', phases.attached],
    ['mount', phases.secondMount],
    ['database recovery', phases.recovered],
    ['first commit', phases.firstCommit],
  ] as const;
  const steps: RecoveryStep[] = [];
  let fromS = 0;
  for (const [name, toS] of named) {
    if (toS === null || toS < fromS) continue;
    steps.push({ name, fromS, toS });
    fromS = toS;
  }
  return steps;
}
