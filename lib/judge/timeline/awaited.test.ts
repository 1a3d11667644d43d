/** What is waited for, by the timers in force, at each step on the way to a second mount. */
import { combined } from '../../scenario/index.ts';
import { expect, test } from 'vitest';
import { runRecord, see } from '../../../test/support/run-record.ts';
import type { ScenarioInput } from '../../scenario/scenario.ts';
import { observed } from '../../history/observations.ts';
import type { SmallRecord } from '../../history/records.ts';
import { outlookOf } from './awaited.ts';
import { tellStory } from './story.ts';
import { mysql } from '../../mysql/database.ts';

const timers = {
  ...{ nodeMonitorGraceMs: 50_000, nodeMonitorPeriodMs: 5000, kubeletLeaseMs: 40_000 },
  ...{ kubeletStatusMs: 10_000, tolerationMs: 300_000, forceDetachAfterMs: 360_000 },
  terminationGraceMs: 30_000,
};

/** The fault on `a` at 100 s; times of the steps are seconds after it. */
const steps: readonly (readonly [SmallRecord, string])[] = [
  [
    { type: 'phase', t: 100_500, phase: 'watch' },
    'the node to be NotReady: no heartbeat since the fault, expected at +50 s',
  ],
  [
    see(149_000, observed.nodeReady, 'a', { status: 'Unknown' }),
    'the eviction: NotReady at +49 s, expected at +349 s',
  ],
  [
    see(449_000, observed.podTerminating, 'a', { pod: 'mysql-0', uid: 'old' }),
    'the old pod to go: evicted at +349 s, remedy force-delete, expected within seconds',
  ],
  [
    see(449_300, observed.podGone, 'a', { pod: 'mysql-0', uid: 'old' }),
    'the force-detach: pod gone at +349 s, expected at +709 s',
  ],
  [
    see(600_000, observed.leaderAcquired, '', { line: 'became leader' }),
    'the force-detach: pod gone at +349 s, a new controller manager at +500 s, expected at +860 s',
  ],
  [
    see(960_000, observed.attachmentGone, 'a'),
    'the attach elsewhere: detached at +860 s, expected within seconds',
  ],
  [
    see(961_000, observed.attachmentAttached, 'b'),
    'the mount: attached elsewhere at +861 s, expected within seconds',
  ],
  [
    see(962_000, observed.csiCall, 'b', { call: 'NodeStageVolume', error: 'fsck: exit 4' }),
    'a mount that is not refused: refused first at +862 s, no deadline: kubelet tries again, at least every 122 s; the watch ends at +900 s',
  ],
  [
    see(970_000, observed.mounted, 'b', { device: '/dev/loop2' }),
    'the successor’s first commits: mounted at +870 s, at most until +900 s',
  ],
];

const begun = (fields: Partial<ScenarioInput> = {}): SmallRecord[] => [
  runRecord(combined<Partial<ScenarioInput>>({ remedy: { kind: 'force-delete' } }, fields)),
  { type: 'setup', t: 1, timers, versions: {}, nodes: ['a', 'b'] },
  see(2, observed.podRunning, 'a', { pod: 'mysql-0', uid: 'old' }),
  {
    type: 'action',
    t: 100_000,
    actor: 'fault',
    name: 'network-partition',
    step: 'begin',
    node: 'a',
  },
];

const waitings = (fields?: Partial<ScenarioInput>): (string | undefined)[] =>
  steps.map((_, index) => {
    const sofar = steps.slice(0, index + 1).map(([record]) => record);
    return outlookOf(tellStory([...begun(fields), ...sofar], mysql)).waiting?.clause;
  });

test('each step names the next, since when and until when', () => {
  expect(waitings()).toEqual(steps.map(([, waiting]) => waiting));
});

test('an attachment that was deleted by hand is missed within a minute', () => {
  const clause = waitings({ remedy: { kind: 'delete-attachment-and-pod' } })[3];
  expect(clause).toBe(
    'the detach: pod gone at +349 s, its attachment deleted, expected by +409 s, when the ' +
      'controller misses the attachment',
  );
});
