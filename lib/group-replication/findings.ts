/** What a group's run shows beside its ledger: each a finding of its own. */
import type { Finding } from '../experiment/verdict/verdict.ts';
import type { Service } from '../timeline/service.ts';
import type { GroupVerdict } from './verdict.ts';

/** What the history says before anything is judged. */
export type GroupMeasurement = Pick<
  GroupVerdict,
  | ('availability' | 'acked' | 'lost' | 'loss' | 'readings')
  | ('victim' | 'successor' | 'phases' | 'members')
>;

export function groupFindings(measured: GroupMeasurement, service: Service): Finding[] {
  const { victim, members, availability } = measured;
  const { rejoined } = availability;
  const found = [...staleReads(measured), ...bothWrote(victim, service)];
  for (const { node, agrees, beyond } of members) {
    const cutOff = node === victim.node;
    if (agrees === false && (!cutOff || rejoined)) {
      found.push({
        code: 'MEMBERS_DIFFER',
        level: 'damage',
        safety: 'corrupt',
        loud: false,
        summary: `${node} holds another ledger than the primary, and both are online members`,
        evidence: members.map((each) => JSON.stringify(each)),
      });
    }
    if (beyond !== '') {
      const summary = `${node} holds transactions that the group does not have, so it cannot join again`;
      found.push(noted('MEMBER_BEYOND', 'loud', summary, beyond));
    }
  }
  if (!rejoined) {
    const summary = `${victim.node} was not an online member when the run ended`;
    found.push(noted('NOT_REJOINED', 'loud', summary));
  }
  return found;
}

const noted = (
  code: string,
  noticed: 'loud' | 'silent',
  summary: string,
  ...evidence: string[]
): Finding => ({
  ...{ code, level: 'note', safety: 'safe', loud: noticed === 'loud', summary, evidence },
});

/** Not a loss: the commits are there, but a client at the wrong member does not see them. */
function staleReads({ victim, successor }: GroupMeasurement): Finding[] {
  const found: Finding[] = [];
  const claimedS = (victim.claimedMs / 1000).toFixed(1);
  if (victim.staleReads > 0) {
    const behind = ((victim.stalestMs ?? 0) / 1000).toFixed(1);
    const summary =
      `the cut-off primary answered ${victim.staleReads} reads without commits that the group ` +
      `had acknowledged, up to ${behind} s behind`;
    const reads = `${victim.readsAnswered} answered, ${victim.readsRefused} refused`;
    found.push(noted('STALE_READS', 'silent', summary, reads));
  }
  if (victim.claimedMs > 0) {
    const summary = `${victim.node} called itself the primary of a whole group for ${claimedS} s while the group had another one`;
    const who = 'a router that asks this member alone sends its clients there';
    found.push(noted('FALSE_PRIMARY', 'silent', summary, who));
  }
  if (successor.staleReads > 0) {
    const summary = `the new primary answered ${successor.staleReads} reads without commits acknowledged before`;
    const reads = `${successor.readsAnswered} answered`;
    found.push(noted('STALE_READS_AT_SUCCESSOR', 'silent', summary, reads));
  }
  return found;
}

/** Two members acknowledged commits at the same time. */
function bothWrote(
  victim: GroupMeasurement['victim'],
  { lastVictimAckMs, firstSuccessorAckMs }: Service,
): Finding[] {
  if (lastVictimAckMs === undefined || firstSuccessorAckMs === undefined) return [];
  if (lastVictimAckMs < firstSuccessorAckMs) return [];
  return [
    {
      code: 'BOTH_WROTE',
      level: 'exposure',
      safety: 'exposed',
      loud: false,
      summary: `${victim.node} acknowledged commits after another member had begun to`,
      evidence: [`last ${lastVictimAckMs} ms, first ${firstSuccessorAckMs} ms of the run's clock`],
    },
  ];
}
