/** News come once each, a wait when it changes and when it is late, and the fault's time is handed on. */
import { expect, test } from 'vitest';
import { runRecord, see } from '../../../test/support/run-record.ts';
import { observed } from '../../history/observations.ts';
import { narrating } from './narrator.ts';
import { mysql } from '../../mysql/database.ts';

test('the narrator reports a run as its records come', () => {
  const heard: string[] = [];
  const hear = narrating(
    {
      fault: (atMs) => heard.push(`fault at ${atMs}`),
      say: (line) => heard.push(line),
      wait: (wait) => heard.push(`waiting for ${wait?.clause}`),
    },
    mysql,
  );
  const timers = {
    ...{ nodeMonitorGraceMs: 10_000, nodeMonitorPeriodMs: 2000, kubeletLeaseMs: 8000 },
    ...{ kubeletStatusMs: 2000, tolerationMs: 10_000, forceDetachAfterMs: 30_000 },
    terminationGraceMs: 30_000,
  };
  hear(runRecord());
  hear({ type: 'setup', t: 1, timers, versions: {}, nodes: ['a', 'b'] });
  const fault = { type: 'action', actor: 'fault', name: 'x', step: 'begin', node: 'a' } as const;
  hear({ ...fault, t: 40_000 });
  hear({ type: 'phase', t: 41_000, phase: 'watch' });
  hear({ type: 'machine', t: 42_000, timerLagMs: 0 });
  const unready = see(50_000, observed.nodeReady, 'a', { status: 'Unknown' });
  hear(unready);
  hear(unready);
  hear({ type: 'machine', t: 70_000, timerLagMs: 0 });
  hear({ type: 'machine', t: 76_000, timerLagMs: 0 });
  hear({ type: 'machine', t: 77_000, timerLagMs: 0 });
  hear(see(80_000, observed.nodeReady, 'a', { status: 'True' }));
  hear({ type: 'phase', t: 90_000, phase: 'first-image' });
  expect(heard).toEqual([
    'fault at 40000',
    'waiting for the node to be NotReady: no heartbeat since the fault, expected at +10 s',
    'the node is NotReady',
    'waiting for the eviction: NotReady at +10 s, expected at +20 s',
    // Again, once it is late.
    'waiting for the eviction: NotReady at +10 s, expected at +20 s',
    'the node is Ready again',
    'waiting for what Kubernetes does, no deadline: its kubelet may still report; the watch ends at +900 s',
    'waiting for undefined',
  ]);
});
