/** What a group's run shows beside its ledger: each a finding of its own. */
import type { Finding } from '../experiment/verdict/verdict.ts';
import type { Service } from '../timeline/service.ts';
import type { GroupVerdict } from './verdict.ts';

/** What the history says before anything is judged. */
export type Measured = Pick<
  GroupVerdict,
  | 'availability'
  | 'acked'
  | 'lost'
  | 'loss'
  | 'readings'
  | 'victim'
  | 'successor'
  | 'phases'
  | 'members'
>;

export function groupFindings(measured: Measured, service: Service): Finding[] {
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
        summary: `${node} holds another ledger than the primary, and both are in good order`,
        evidence: members.map((each) => JSON.stringify(each)),
      });
    }
    if (beyond !== '') {
      found.push({
        code: 'MEMBER_BEYOND',
        level: 'note',
        safety: 'safe',
        loud: true,
        summary: `${node} holds transactions that the group has not, so it cannot join again`,
        evidence: [beyond],
      });
    }
  }
  if (!rejoined) {
    found.push({
      code: 'NOT_REJOINED',
      level: 'note',
      safety: 'safe',
      loud: true,
      summary: `${victim.node} was no member in good order when the run ended`,
      evidence: [],
    });
  }
  return found;
}

/** Not a loss: the commits are there, but whoever asks the wrong member does not see them. */
function staleReads({ victim, successor }: Measured): Finding[] {
  const found: Finding[] = [];
  if (victim.staleReads > 0) {
    const behind = ((victim.stalestMs ?? 0) / 1000).toFixed(1);
    found.push({
      code: 'STALE_READS',
      level: 'note',
      safety: 'safe',
      loud: false,
      summary:
        `the cut-off primary answered ${victim.staleReads} reads without commits that the group ` +
        `had acknowledged, up to ${behind} s behind`,
      evidence: [`${victim.readsAnswered} answered, ${victim.readsRefused} refused`],
    });
  }
  if (victim.claimedMs > 0) {
    found.push({
      code: 'FALSE_PRIMARY',
      level: 'note',
      safety: 'safe',
      loud: false,
      summary:
        `${victim.node} called itself the primary of a whole group for ` +
        `${(victim.claimedMs / 1000).toFixed(1)} s while the group had another one`,
      evidence: ['a router that asks this member alone sends its clients there'],
    });
  }
  if (successor.staleReads > 0) {
    found.push({
      code: 'STALE_READS_AT_SUCCESSOR',
      level: 'note',
      safety: 'safe',
      loud: false,
      summary: `the new primary answered ${successor.staleReads} reads without commits acknowledged before`,
      evidence: [`${successor.readsAnswered} answered`],
    });
  }
  return found;
}

/** Two members acknowledged commits at the same time. */
function bothWrote(
  victim: Measured['victim'],
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
