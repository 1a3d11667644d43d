/** What a run put to the test: where nothing was, nothing could be lost, and that is no `safe`. */
import type { Reconciliation } from '../../checkers/reconcile.ts';
import type { Story } from '../../timeline/story.ts';

/** Reasons why the run is incomplete. Without an audited image that is reason enough. */
export function nothingTested(
  { scenario, records, faultAtMs, tells }: Story,
  reconciliations: ReadonlyMap<string, Reconciliation>,
): string[] {
  if (reconciliations.size === 0) return [];
  if (scenario.rate !== 0) {
    if (faultAtMs === undefined) return [];
    const all = [...reconciliations.values()];
    const untested: string[] = [];
    if (all.every(({ byEpoch }) => byEpoch.beforeFault.acked === 0)) {
      untested.push('the clients were to write, and no commit was acknowledged before the fault');
    }
    if (tells.wholeWorkload && !records.some(({ type }) => type === 'schema-change')) {
      untested.push('no client was asked to change the schema');
    }
    return untested;
  }
  // An idle database has what was there before: its accounts.
  const steady = records.find((record) => record.type === 'image' && record.image === 'steady');
  const rows = steady?.type === 'image' ? Object.keys(steady.evidence.balances).length : 0;
  return rows > 0 ? [] : ['nobody was to write, and the steady image has no row to be lost'];
}
