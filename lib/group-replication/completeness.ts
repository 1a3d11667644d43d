/** Is every needed piece of evidence there? Each reason why not is a sentence; none means complete. */
import type { GroupStory } from './story.ts';

/** A timer that fires later than this says the machine did not keep time. */
const timerLagLimitMs = 2000;

export function groupIncompleteBecause(story: GroupStory): string[] {
  const { records, brokenAtMs, ledgers, reads, victim } = story;
  const reasons: string[] = [];
  let worstLagMs = 0;
  let proven = false;
  for (const record of records) {
    if (record.type === 'error') reasons.push(`${record.where}: ${record.message}`);
    if (record.type === 'machine') worstLagMs = Math.max(worstLagMs, record.timerLagMs);
    if (record.type === 'certificate') {
      const { fault, moment, claim, holds, evidence } = record;
      proven ||= moment === 'during' && holds;
      if (!holds) reasons.push(`certificate of ${fault} (${moment}) fails: ${claim} (${evidence})`);
    }
  }
  if (brokenAtMs === undefined) reasons.push('the fault was never injected');
  else if (!proven) reasons.push('no certificate says that the fault took effect');
  for (const image of ['first', 'second'] as const) {
    if (!ledgers.some((each) => each.image === image && each.rows !== undefined)) {
      reasons.push(`the ${image} reading of the ledger is missing`);
    }
  }
  if (!reads.some(({ node, heads }) => node === victim && heads !== undefined)) {
    reasons.push('nobody ever read at the victim');
  }
  if (worstLagMs > timerLagLimitMs) {
    reasons.push(`the machine did not keep time: a timer fired ${Math.round(worstLagMs)} ms late`);
  }
  return reasons;
}
