/** What a run lost, by who had acknowledged it and when. */
import type { Reconciliation } from '../../checkers/reconcile.ts';
import type { Loss } from './verdict.ts';

/** The worst of all images, epoch by epoch: what the fault took, and what the heal took after it. */
export function lossOf(reconciliations: Iterable<Reconciliation>): Loss {
  const all = [...reconciliations];
  const worstIn = (epoch: keyof Loss): { acked: number; lost: number } => {
    const counts = all.map(({ byEpoch }) => byEpoch[epoch]);
    return {
      acked: Math.max(0, ...counts.map(({ acked }) => acked)),
      lost: Math.max(0, ...counts.map(({ lost }) => lost)),
    };
  };
  return {
    beforeFault: worstIn('beforeFault'),
    victimBeforeHandover: worstIn('victimBeforeHandover'),
    victimAfterHandover: worstIn('victimAfterHandover'),
    successor: worstIn('successor'),
  };
}
