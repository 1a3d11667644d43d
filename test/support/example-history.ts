/**
 * A made-up history, for tests of the report only. Its numbers come from no run;
 * it must never be shown as a sample report.
 */
import { mysql } from '../../lib/mysql/database.ts';
import type { HistoryRecord, Timers } from '../../lib/history/records.ts';
import { observationOf, observed, type ObservedName } from '../../lib/history/observations.ts';
import { exampleScenario, exampleVerdict } from './example-verdict.ts';

/** The fault comes so long after the run's start. */
const faultAtMs = 60_000;
const endMs = 560_000;
const victim = 'example-worker';
const successor = 'example-worker2';

/** Seconds after the fault → ms on the run's clock. */
const at = (atS: number): number => faultAtMs + atS * 1000;

function seen(
  atS: number,
  source: string,
  name: ObservedName,
  node: string,
  data: Record<string, unknown> = {},
): HistoryRecord {
  return observationOf({ type: 'observation', t: at(atS), source, name, node, data });
}

function observations(): HistoryRecord[] {
  const first = { pod: `${mysql.name}-0`, uid: 'aaaa1111' };
  const second = { pod: `${mysql.name}-0`, uid: 'bbbb2222' };
  const call = (name: string): Record<string, unknown> => ({ call: name, durationMs: 60 });
  return [
    seen(-60, 'api', observed.nodeReady, victim, { status: 'True', reason: 'KubeletReady' }),
    seen(-60, 'api', observed.nodeReady, successor, { status: 'True', reason: 'KubeletReady' }),
    seen(-58, 'api', observed.attachmentCreated, victim, {
      attachment: 'csi-aaa',
      volume: 'mysql',
    }),
    seen(-57, 'csi', observed.csiCall, victim, call('ControllerPublishVolume')),
    seen(-57, 'api', observed.attachmentAttached, victim, {
      attachment: 'csi-aaa',
      volume: 'mysql',
    }),
    seen(-57, 'api', observed.volumesAttached, victim, { volumes: ['vol'] }),
    seen(-56, 'csi', observed.csiCall, victim, call('NodeStageVolume')),
    seen(-56, 'mounts', observed.mounted, victim, { device: '/dev/loop100' }),
    seen(-55, 'api', observed.podRunning, victim, { ...first, ip: '10.0.0.2' }),
    seen(-54, 'api', observed.podReady, victim, { ...first, ready: true }),
    seen(48.2, 'api', observed.nodeReady, victim, {
      status: 'Unknown',
      reason: 'NodeStatusUnknown',
    }),
    seen(48.3, 'api', observed.nodeTaints, victim, {
      taints: ['node.kubernetes.io/unreachable:NoExecute'],
    }),
    seen(48.4, 'api', observed.podReady, victim, { ...first, ready: false }),
    seen(52.1, 'api', observed.podTerminating, victim, { ...first, gracePeriodS: 30 }),
    seen(52.6, 'api', observed.podGone, victim, first),
    seen(412.6, 'controller-manager', observed.forceDetachLog, victim, {
      line: 'maxWaitForUnmountDuration expired, force detaching',
    }),
    seen(412.7, 'api', observed.attachmentDeleting, victim, {
      attachment: 'csi-aaa',
      volume: 'mysql',
    }),
    seen(412.7, 'csi', observed.csiCall, victim, call('ControllerUnpublishVolume')),
    seen(412.8, 'api', observed.attachmentGone, victim, { attachment: 'csi-aaa', volume: 'mysql' }),
    seen(412.8, 'api', observed.volumesAttached, victim, { volumes: [] }),
    seen(413.0, 'api', observed.attachmentCreated, successor, {
      attachment: 'csi-bbb',
      volume: 'mysql',
    }),
    seen(413.5, 'api', observed.attachmentAttached, successor, {
      attachment: 'csi-bbb',
      volume: 'mysql',
    }),
    seen(414.2, 'mounts', observed.mounted, successor, { device: '/dev/loop120' }),
    seen(415.6, 'api', observed.podReady, successor, { ...second, ready: true }),
    seen(445.2, 'mounts', observed.unmounted, victim, { device: '/dev/loop100' }),
    seen(446.0, 'api', observed.nodeReady, victim, { status: 'True', reason: 'KubeletReady' }),
    seen(446.1, 'api', observed.nodeTaints, victim, { taints: [] }),
  ];
}

function actions(): HistoryRecord[] {
  const fault = {
    type: 'action',
    actor: 'fault',
    name: 'network-partition',
    node: victim,
  } as const;
  const remedy = { type: 'action', actor: 'remedy', name: 'force-delete', node: victim } as const;
  return [
    { type: 'phase', t: 0, phase: 'prepare' },
    { type: 'phase', t: at(-30), phase: 'steady' },
    { type: 'phase', t: at(0), phase: 'fault' },
    { ...fault, t: at(0), step: 'begin' },
    { ...fault, t: at(0.2), step: 'done' },
    {
      type: 'certificate',
      t: at(0.5),
      fault: 'network-partition',
      moment: 'during',
      claim: 'the victim does not reach the API server',
      holds: true,
      evidence: 'made up',
    },
    { type: 'phase', t: at(1), phase: 'watch' },
    { ...remedy, t: at(52.4), step: 'begin' },
    { ...remedy, t: at(52.6), step: 'done' },
    { type: 'phase', t: at(436), phase: 'heal' },
    { ...fault, t: at(436), step: 'heal' },
    { ...fault, t: at(437), step: 'healed' },
    { type: 'phase', t: at(438), phase: 'converge' },
    { type: 'phase', t: endMs, phase: 'report' },
  ];
}

/** One client on one node, an acknowledged operation each `everyMs`, with its device's bytes. */
function writing(client: string, node: string, fromS: number, toS: number): HistoryRecord[] {
  const everyMs = 500;
  const records: HistoryRecord[] = [];
  const id = { client, connection: 0, session: fromS < 0 ? 0 : 1 };
  const server = { node, podUid: 'made-up', startedAtS: 0 };
  records.push({ type: 'session', t: at(fromS), ...id, server });
  for (let t = at(fromS), seq = 0; t < at(toS); t += everyMs, seq += 1) {
    const latencyMs = 2 + (seq % 7) + (seq % 97 === 0 ? 60 : 0);
    records.push({ type: 'invoke', t, ...id, seq, kind: 'append' });
    records.push({ type: 'outcome', t: t + latencyMs, ...id, seq, outcome: 'ok' });
    const bytesWritten = (seq + 1) * 24_576;
    const source = 'devices';
    const generation = node === victim ? 1 : 2;
    const data = { device: node === victim ? 'loop100' : 'loop120', generation, bytesWritten };
    if (seq % 4 === 0) {
      records.push({ type: 'observation', t, source, name: observed.deviceWritten, node, data });
    }
  }
  return records;
}

function beginning(): HistoryRecord[] {
  const { seed, runId, replay, timers, versions } = exampleVerdict;
  return [
    {
      type: 'run',
      t: 0,
      schemaVersion: 1,
      runId,
      seed,
      backend: 'kind',
      basis: 'measured',
      scenario: exampleScenario,
      replay,
    },
    {
      type: 'setup',
      t: 1,
      timers: timers as unknown as Timers,
      versions,
      nodes: [victim, successor],
    },
  ];
}

/** In order of time. */
export function exampleHistory(): HistoryRecord[] {
  const records = [
    ...beginning(),
    ...actions(),
    ...observations(),
    ...writing('inside', victim, -50, 445),
    ...writing('outside', victim, -50, 0),
    ...writing('outside', successor, 416, 500),
  ];
  return records.toSorted((a, b) => ('t' in a ? a.t : 0) - ('t' in b ? b.t : 0));
}
