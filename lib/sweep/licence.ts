/**
 * What let the second writer in: the decisions of a schedule that mattered, each once, in the order
 * of Kubernetes' own steps. Findings with the same licence are one finding.
 */
import { noticeNames, notices, type Notice } from '../cluster/sim/notices.ts';
import type { Outcome } from './play.ts';

/** About the victim's node or pod, or about no node. */
const decisions: readonly Notice[] = [
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
  decisions.includes(code as Notice),
);

/** Names of notices; empty where no other node mounted the volume while it was watched. */
export function licenceOf({ trace, victim, faultAtUs, secondMountUs }: Outcome): string[] {
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
