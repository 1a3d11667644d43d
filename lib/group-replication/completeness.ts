/** Is every needed piece of evidence there? Each reason why not is a sentence; none means complete. */
import { certificateGaps } from '../experiment/evidence/certificate-gaps.ts';
import { clientGaps } from '../experiment/evidence/client-gaps.ts';
import { journalGaps } from '../experiment/evidence/journal-gaps.ts';
import { lateTimers } from '../experiment/evidence/machine-time.ts';
import type { ClientJournals } from '../history/client-protocol.ts';
import type { History } from '../history/reader.ts';
import type { GroupStory } from './story.ts';

export function groupIncompleteBecause(
  story: GroupStory,
  history: History,
  journals: ClientJournals,
): string[] {
  const { records, faultDoneAtMs, ledgers, reads, victimNode } = story;
  const reasons: string[] = [];
  for (const record of records) {
    if (record.type === 'error') reasons.push(`${record.where}: ${record.message}`);
    if (record.type === 'certificate' && !record.holds) {
      const { fault, moment, claim, evidence } = record;
      reasons.push(`certificate of ${fault} (${moment}) fails: ${claim} (${evidence})`);
    }
  }
  if (faultDoneAtMs === undefined) reasons.push('the fault was never injected');
  for (const image of ['first', 'second'] as const) {
    if (!ledgers.some((each) => each.image === image && each.rows !== undefined)) {
      reasons.push(`the ${image} reading of the ledger is missing`);
    }
  }
  if (!reads.some(({ node, heads }) => node === victimNode && heads !== undefined)) {
    reasons.push('nobody ever read at the victim');
  }
  return [
    ...reasons,
    ...certificateGaps(story),
    ...clientGaps(story, journals, { writesOnly: true }).map(({ reason }) => reason),
    ...journalGaps(story, history).map(({ reason }) => reason),
    ...lateTimers(story),
    ...history.cuts.map((cut) => `the history is cut: ${JSON.stringify(cut)}`),
  ];
}
