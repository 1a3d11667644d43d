/** What a group's run shows beside its ledger: each a finding of its own. */
import { note } from '../checkers/checker.ts';
import type { Finding } from '../verdict/verdict.ts';
import { type BothWrote, comparedMembers, onlineAtEnd } from '../facts/group.ts';
import type { GroupStory } from './story.ts';
import type { GroupVerdict } from './verdict.ts';

type Measured = Pick<GroupVerdict, 'availability' | 'victim' | 'successor' | 'members'>;

export function groupFindings(
  { availability: { rejoined }, victim, successor, members }: Measured,
  story: GroupStory,
  bothWrote: BothWrote | undefined,
): Finding[] {
  const found: Finding[] = [];
  const noted = (code: string, loud: boolean, summary: string, ...evidence: string[]): void =>
    void found.push({ ...note(code, summary, evidence), loud });
  // Stale reads are no loss: the commits are there, but a client at the wrong member does not see them.
  if (victim.staleReads > 0) {
    const behind = ((victim.stalestMs ?? 0) / 1000).toFixed(1);
    const summary =
      `the cut-off primary answered ${victim.staleReads} reads without commits that the group ` +
      `had acknowledged, up to ${behind} s behind`;
    const reads = `${victim.readsAnswered} answered, ${victim.readsRefused} refused`;
    noted('STALE_READS', false, summary, reads);
  }
  if (victim.claimedMs > 0) {
    const claimedS = (victim.claimedMs / 1000).toFixed(1);
    const summary = `${victim.node} called itself the primary of a whole group for ${claimedS} s while the group had another one`;
    const who = 'a router that asks this member alone sends its clients there';
    noted('FALSE_PRIMARY', false, summary, who);
  }
  if (successor.staleReads > 0) {
    const summary = `the new primary answered ${successor.staleReads} reads without commits acknowledged before`;
    noted('STALE_READS_AT_SUCCESSOR', false, summary, `${successor.readsAnswered} answered`);
  }
  if (bothWrote !== undefined) {
    const { node, atMs, other, otherAtMs } = bothWrote;
    found.push({
      ...{ code: 'BOTH_WROTE', level: 'exposure', safety: 'exposed', loud: false },
      summary: `${node} acknowledged commits after another member had begun to`,
      evidence: [`${node} at ${atMs} ms, ${other} from ${otherAtMs} ms of the run's clock on`],
    });
  }
  const online = onlineAtEnd(story);
  for (const { node, agrees } of comparedMembers(story)) {
    if (agrees || !online.has(node)) continue;
    found.push({
      ...{ code: 'MEMBERS_DIFFER', level: 'damage', safety: 'corrupt', loud: false },
      summary: `${node} holds another ledger than the primary, and both are online members`,
      evidence: members.map((each) => JSON.stringify(each)),
    });
  }
  for (const { node, beyond } of members) {
    if (beyond !== '') {
      const summary = `${node} holds transactions that the group does not have, so it cannot join again`;
      noted('MEMBER_BEYOND', true, summary, beyond);
    }
  }
  if (!rejoined) {
    noted('NOT_REJOINED', true, `${victim.node} was not an online member when the run ended`);
  }
  return found;
}
