/** News come once each, a wait when it changes, and the fault's own time is handed on. */
import { expect, test } from 'vitest';
import { runRecord, see } from '../../../test/support/run-record.ts';
import { observed } from '../../history/observations.ts';
import { Narrator } from './narrator.ts';

test('a run is told as its records come', () => {
  const heard: string[] = [];
  const narrator = new Narrator({
    fault: (atMs) => heard.push(`fault at ${atMs}`),
    say: (line) => heard.push(line),
    wait: (clause) => heard.push(`waiting for ${clause}`),
  });
  const timers = {
    ...{ nodeMonitorGraceMs: 10_000, nodeMonitorPeriodMs: 2000, kubeletLeaseMs: 8000 },
    ...{ kubeletStatusMs: 2000, tolerationMs: 10_000, forceDetachAfterMs: 30_000 },
    terminationGraceMs: 30_000,
  };
  narrator.see(runRecord());
  narrator.see({ type: 'setup', t: 1, timers, versions: {}, nodes: ['a', 'b'] });
  const fault = { type: 'action', actor: 'fault', name: 'x', step: 'begin', node: 'a' } as const;
  narrator.see({ ...fault, t: 40_000 });
  narrator.see({ type: 'phase', t: 41_000, phase: 'watch' });
  narrator.see({ type: 'machine', t: 42_000, timerLagMs: 0 });
  const unready = see(50_000, observed.nodeReady, 'a', { status: 'Unknown' });
  narrator.see(unready);
  narrator.see(unready);
  narrator.see({ type: 'phase', t: 90_000, phase: 'first-image' });
  expect(heard).toEqual([
    'fault at 40000',
    'waiting for the node to be NotReady: silent since the fault, expected at +10 s',
    'the node is NotReady',
    'waiting for the eviction: NotReady at +10 s, expected at +20 s',
    'waiting for undefined',
  ]);
});
