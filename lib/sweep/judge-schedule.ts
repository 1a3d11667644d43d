/**
 * Which invariants a schedule broke (nothing acknowledged is lost, never two writers, it converges), and
 * the licence: the decisions that let the second writer in. Findings with the same licence are one.
 */
import { losesPower, removesPod, type Scenario } from '../scenario/index.ts';
import type { Safety } from '../judge/index.ts';
import { lostInCopy } from './commits.ts';
import type { ScheduleOutcome } from './play.ts';
import { noticeNames, notices, type NoticeCode } from '../sim/index.ts';

export const harms = ['corrupt', 'lost', 'exposed', 'stuck', 'not converged'] as const;
export type Harm = (typeof harms)[number];

interface ScheduleJudgement {
  /** A run's verdict, but predicted. */
  readonly safety: Safety;
  /** In the order of `harms`; empty where every invariant held. */
  readonly broken: readonly Harm[];
  /** What let it happen (licence.ts). */
  readonly licence: readonly string[];
  /** Names the finding: what the worst of it is, what let it happen, and on which disk. */
  readonly key: string;
}

export function judge(outcome: ScheduleOutcome): ScheduleJudgement {
  const { first, second, overlapUs, converged, stuck, scenario } = outcome;
  const holds: Readonly<Record<Harm, boolean>> = {
    corrupt: first.unreadable || second.unreadable,
    lost: lostInCopy(first) + lostInCopy(second) > 0,
    exposed: overlapUs > 0,
    stuck,
    'not converged': !converged,
  };
  const broken = harms.filter((harm) => holds[harm]);
  const safety = (['corrupt', 'lost', 'exposed'] as const).find((harm) => holds[harm]) ?? 'safe';
  const [worst = 'none'] = broken;
  const where = [scenario.disk, victimIs(outcome), ...waived(scenario)];
  const licence = licenceOf(outcome);
  return { safety, broken, licence, key: [worst, ...where, ...licence].join(' | ') };
}

/** What of its promises the server or the disk does not keep anyway, or is not asked to. */
export const waived = ({ flushes, trxCommit, accessMode, remedy }: Scenario): string[] => [
  ...(flushes === 'honest' ? [] : ['flushes ignored']),
  ...(trxCommit === 1 ? [] : [`trx_commit ${trxCommit}`]),
  ...(accessMode === 'ReadWriteMany' ? ['declared for many nodes'] : []),
  ...(remedy === 'strip-attachment-finalizer' ? ['perhaps never asked to detach'] : []),
];

/** Dead, standing still, or alive: which zombie there may be. */
function victimIs({ scenario: { fault, remedy } }: ScheduleOutcome): string {
  if (losesPower(fault)) return 'dead';
  if (fault === 'freeze') return 'frozen';
  return fault === 'none' && removesPod(remedy) ? 'whole' : 'alive';
}

/** About the victim's node or pod, or about no node. */
const decisions: readonly NoticeCode[] = [
  notices.podStopped,
  notices.podTerminating,
  notices.podFailed,
  notices.podGone,
  notices.nodeDeleted,
  notices.controllerLeads,
  notices.kubeletRestarted,
  notices.mountForgotten,
  notices.forcedByTimeout,
  notices.forcedByTaint,
  notices.detachFailed,
  notices.attachmentMissed,
  notices.uncertain,
  notices.attachmentGone,
  notices.cut,
  notices.selfFenced,
];
const matters: readonly boolean[] = noticeNames.map((_, code) =>
  decisions.includes(code as NoticeCode),
);

/** Names of notices; empty where no other node mounted the volume while it was watched. */
export function licenceOf({ trace, victim, faultAtUs, secondMountUs }: ScheduleOutcome): string[] {
  if (secondMountUs === undefined) return [];
  const untilUs = faultAtUs + secondMountUs;
  const { codes, nodes, timesUs } = trace;
  const seen = new Set<number>();
  codes.forEach((code, at) => {
    const atUs = timesUs[at] ?? 0;
    const node = nodes[at] ?? -1;
    if (matters[code] !== true || atUs < faultAtUs || atUs > untilUs) return;
    if (node === victim || node === -1) seen.add(code);
  });
  return decisions.filter((code) => seen.has(code)).map((code) => noticeNames[code] ?? '');
}
