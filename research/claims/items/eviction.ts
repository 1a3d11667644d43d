/** Claims 9, 14, 15, 16, 23: what Kubernetes records of a lost node and its pod, and what it leaves. */
import { mysql } from '../../../lib/mysql/index.ts';
import { isDirectory, endsMachine, losesPower, sparesVictim } from '../../../lib/scenario/index.ts';
import { toldInSeconds } from '../../../lib/core/index.ts';
import { observed } from '../../../lib/history/index.ts';
import {
  allOf,
  allSeen,
  firstOf,
  recordLines,
  ofVictimPod,
  since,
  underFault,
  victimAcksAfter,
} from '../recorded-run.ts';
import { refusesEvictionTimeout } from '../procedures/settings.ts';
import type { Claim } from '../claim.ts';

const partitionNone = 'network-partition --remedy none --horizon 900s';
const partitionForce = 'network-partition --remedy force-delete';
const crash = 'node-crash --remedy force-delete';

export const evictionAlone: Claim = {
  number: 9,
  title: 'Eviction and six minutes write twice, unaided',
  statement: 'Eviction and the forced detach after 6 minutes alone lead to two writers.',
  expected:
    'Refuted for a pod last reported Running: its Terminating object keeps the attachment, ' +
    'no second mount in 900 s. A grace period of 0 is an exception: two writers ' +
    'without any operator.',
  runs: [
    partitionNone,
    `${partitionNone} --workload deployment-recreate`,
    'network-partition --remedy none --termination-grace 0s',
  ],
  read(run) {
    const { remedy, fault, disk, volume } = run.story.scenario;
    if (remedy.kind !== 'none') return 'an operator acted';
    if (endsMachine(fault.kind) || sparesVictim(fault.kind))
      return 'the victim was not left alive and alone';
    if (isDirectory(disk.mode) || volume.accessMode === 'ReadWriteMany')
      return 'nothing gates this disk';
    const { phases, horizonS } = run.verdict;
    const { secondMount } = phases;
    const evicted = phases.evicted ?? phases.podRemoved;
    if (evicted === null) return 'the pod was not evicted';
    const { workload } = run.story.scenario;
    const told =
      secondMount === null ? `none in ${horizonS.toFixed(0)} s` : `at +${secondMount.toFixed(1)} s`;
    return {
      asExpected: (secondMount === null) === workload.terminationGrace > 0,
      said:
        `${workload.kind}, grace period ${workload.terminationGrace} s: evicted at ` +
        `+${evicted.toFixed(1)} s; second mount: ${told}; the victim acknowledged ` +
        `${victimAcksAfter(run, run.faultAtMs + evicted * 1000).length} commits after its eviction.`,
      evidence: recordLines(
        run,
        (['evicted', 'pod-gone', 'mounted'] as const)
          .flatMap((name) => allOf(run, name))
          .filter(({ t }) => underFault(run, t)),
      ),
    };
  },
};

export const conditionUnknown: Claim = {
  number: 14,
  title: 'Condition Unknown',
  statement: 'Without heartbeats the node lifecycle controller marks the node ConditionUnknown.',
  expected: 'Holds (`NodeStatusUnknown`), with the taint `unreachable:NoExecute` beside it.',
  runs: [partitionForce],
  read(run) {
    const unready = firstOf(run, 'not-ready');
    const taint = firstOf(run, 'no-execute');
    if (unready === undefined) return 'the node was never declared lost';
    const { status, reason } = unready.data;
    return {
      asExpected: status === 'Unknown' && reason === 'NodeStatusUnknown' && taint !== undefined,
      said: `Ready became ${String(status)} (${String(reason)}) at ${since(run, unready.t)}; the NoExecute taint ${taint === undefined ? 'never came' : `came ${toldInSeconds(taint.t - unready.t)} later`}.`,
      evidence: recordLines(run, [unready, taint]),
    };
  },
};

/** Kubernetes counts whole seconds, and a busy machine is late. */
const tolerationSlackMs = 5_000;

export const evictionTimeout: Claim = {
  number: 15,
  title: 'pod-eviction-timeout',
  statement: 'Pods are evicted `--pod-eviction-timeout` after their node was lost.',
  expected:
    'Changed: the flag is gone and the controller manager refuses it; the toleration ' +
    'of the taint counts, 300 s, so that stock eviction comes 340 to 360 s after the ' +
    'fault.',
  runs: [partitionForce, `${partitionForce} --toleration 60s`],
  procedure: refusesEvictionTimeout,
  read(run) {
    const taint = firstOf(run, 'no-execute');
    const evicted = firstOf(run, 'evicted');
    if (taint === undefined || evicted === undefined) return 'the pod was not evicted';
    if (run.story.scenario.also.kind !== 'none')
      return 'a fault of the control plane moved the timer';
    const { timers } = run.story.scenario;
    const toleratedMs = evicted.t - taint.t;
    return {
      asExpected: Math.abs(toleratedMs - timers.toleration) <= tolerationSlackMs,
      said:
        `Evicted ${toldInSeconds(toleratedMs)} after the taint (toleration ` +
        `${toldInSeconds(timers.toleration)}), ${since(run, evicted.t)} after the fault.`,
      evidence: recordLines(run, [taint, evicted]),
    };
  },
};

export const evictionInEtcd: Claim = {
  number: 16,
  title: 'Eviction exists only in etcd',
  statement:
    'Eviction is a record in etcd; a kubelet that is cut off never sees it, its process lives on.',
  expected: `Holds: the API says Terminating while the old ${mysql.server} still commits.`,
  runs: [partitionNone],
  read(run) {
    const evicted = firstOf(run, 'evicted');
    if (evicted === undefined) return 'the pod was not evicted';
    const { fault } = run.story.scenario;
    if (fault.kind !== 'network-partition' && fault.kind !== 'api-partition') {
      return 'the kubelet was not cut off alive';
    }
    const acks = victimAcksAfter(run, evicted.t);
    const last = acks.at(-1);
    return {
      asExpected: acks.length > 0,
      said: `Terminating at ${since(run, evicted.t)}; after it the old ${mysql.server} acknowledged ${acks.length} commits${last === undefined ? '' : `, the last one at ${since(run, last)}`}, until the heal.`,
      evidence: recordLines(run, [evicted, ...allOf(run, 'pod-gone')]),
    };
  },
};

export const deadNodesPod: Claim = {
  number: 23,
  title: 'A dead node’s pod is shown as Running, then Unknown',
  statement: 'The pod of a dead node stays Running, later Unknown (`NodeLost`).',
  expected:
    'Changed: it stays Running and becomes Terminating; phase Unknown and NodeLost are gone.',
  runs: [crash],
  read(run) {
    if (!losesPower(run.story.scenario.fault.kind)) return 'the node did not die';
    const evicted = firstOf(run, 'evicted');
    if (evicted === undefined) return 'the pod was not evicted';
    const until = firstOf(run, 'pod-gone')?.t ?? run.story.healAtMs;
    const phases = allSeen(run, observed.podPhase, ofVictimPod(run)).filter(({ t }) => t <= until);
    const words = [...new Set(phases.map(({ data }) => String(data.phase)))];
    const lost = run.story.observations.filter(({ data }) =>
      JSON.stringify(data).includes('NodeLost'),
    );
    return {
      asExpected: words.join() === 'Running' && lost.length === 0,
      said:
        `Until it was removed the API showed phase ${words.join(', then ')}; Terminating ` +
        `at ${since(run, evicted.t)}; ${lost.length} records name NodeLost.`,
      evidence: recordLines(run, [...phases, evicted, ...lost]),
    };
  },
};
