/** Claims 11, 12, 13: three ways to lose a node's heartbeat, and who lives on. */
import { mysql } from '../../../lib/mysql/index.ts';
import { observed } from '../../../lib/history/index.ts';
import { firstAfterFault } from '../../../lib/judge/index.ts';
import { recordLines, onVictim, seenUnderFault, since, victimAcksAfter } from '../recorded-run.ts';
import type { Claim } from '../claim.ts';

export const heartbeatCrash: Claim = {
  number: 11,
  title: 'Heartbeat lost by a reboot or a crash',
  statement: 'A node that reboots or crashes sends no heartbeats, and is given up.',
  expected:
    'Not Ready after the 50 s grace (40 s up to 1.31), 40 to 60 s after the fault. ' +
    'Back within the grace it is never given up, and the same pod restarts in place.',
  runs: [
    'node-crash --remedy force-delete',
    'node-reboot --reboot-at 15s',
    'node-reboot --reboot-at 120s',
  ],
  read(run) {
    const { fault, timers } = run.story.scenario;
    if (fault.kind !== 'node-crash' && fault.kind !== 'node-reboot') return 'the node did not die';
    const lost = firstAfterFault(run.story, 'not-ready');
    const deadMs = run.story.faultDoneAtMs ?? run.faultAtMs;
    if (lost === undefined) {
      const early =
        fault.kind === 'node-reboot' &&
        fault.rebootAt !== 'force-detach' &&
        fault.rebootAt < timers.grace;
      const gone = seenUnderFault(run, observed.podGone);
      return {
        asExpected: early && gone.length === 0,
        said:
          `Back after ${String(fault.rebootAt)} ms, within the grace of ${timers.grace} ms: never ` +
          `declared lost, ${gone.length} pods removed.`,
        evidence: recordLines(run, gone),
      };
    }
    const afterMs = lost.t - deadMs;
    return {
      // It stood still before it was dead; the last renewal was up to 10 s before that, and a
      // monitor's tick comes up to 5 s late.
      asExpected:
        lost.t - run.faultAtMs >= timers.grace - 10_500 && afterMs <= timers.grace + 10_500,
      said:
        `Not Ready (${String(lost.data.reason)}) ${(afterMs / 1000).toFixed(1)} s ` +
        `after the node’s death; the grace is ${timers.grace / 1000} s.`,
      evidence: recordLines(run, [lost]),
    };
  },
};

export const heartbeatPartition: Claim = {
  number: 12,
  title: 'Heartbeat lost by a partition',
  statement: 'A network failure between node and API server loses the heartbeats.',
  expected: 'Holds, and the writer survives, cut off whole or from the API alone.',
  runs: ['network-partition --remedy none --horizon 900s', 'api-partition --remedy force-delete'],
  read(run) {
    const { fault } = run.story.scenario;
    if (fault.kind !== 'network-partition' && fault.kind !== 'api-partition')
      return 'nothing was cut off';
    const lost = firstAfterFault(run.story, 'not-ready');
    if (lost === undefined) return 'the node was never declared lost';
    const acks = victimAcksAfter(run, lost.t);
    return {
      asExpected: acks.length > 0,
      said:
        `Not Ready at ${since(run, lost.t)} (${fault.kind}); from then to the heal the ` +
        `victim’s ${mysql.server} acknowledged ${acks.length} commits.`,
      evidence: recordLines(run, [lost]),
    };
  },
};

export const heartbeatStarved: Claim = {
  number: 13,
  title: 'Heartbeat lost by CPU starvation',
  statement: 'Load that starves kubelet of CPU loses the heartbeats.',
  expected:
    'A kubelet that stands still is given up like a dead one while its pods run; one ' +
    'that starves may flap between Ready and not.',
  runs: ['kubelet-stall --remedy force-delete', 'cpu-starvation --remedy none'],
  read(run) {
    const { fault } = run.story.scenario;
    if (fault.kind !== 'kubelet-stall' && fault.kind !== 'cpu-starvation')
      return 'no kubelet was starved';
    const changes = seenUnderFault(run, observed.nodeReady, onVictim(run));
    const away = changes.filter(({ data }) => data.status !== 'True');
    const acks = victimAcksAfter(run, away[0]?.t ?? Infinity);
    const how = fault.kind === 'cpu-starvation' ? `${fault.cpuShare} of a CPU` : 'kubelet stopped';
    return {
      asExpected: fault.kind === 'cpu-starvation' || (away.length > 0 && acks.length > 0),
      said: `${how}: Ready was lost ${away.length} times and came back ${changes.length - away.length} times in ${run.verdict.horizonS.toFixed(0)} s${away[0] === undefined ? '' : `, first lost at ${since(run, away[0].t)}`}; ${acks.length} commits acknowledged by the victim after that.`,
      evidence: recordLines(run, changes),
    };
  },
};
