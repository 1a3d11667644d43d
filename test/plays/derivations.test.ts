/** The derivations, held against a hand-written partition with a forced detach. */
import { expect, test } from 'vitest';
import { runRecord, see } from '../support/run-record.ts';
import type { SmallRecord } from '../../lib/history/reader.ts';
import { observed } from '../../lib/history/observations.ts';
import { exposureOf } from '../../lib/timeline/exposure.ts';
import { licencesOf } from '../../lib/timeline/licence.ts';
import { phasesOf } from '../../lib/timeline/phases.ts';
import { ServiceMeter } from '../../lib/timeline/service.ts';
import { tellStory, type Story } from '../../lib/timeline/story.ts';
import { mysql } from '../../lib/mysql/database.ts';

const begin: SmallRecord[] = [
  runRecord(),
  see(500, observed.podRunning, 'a', { uid: 'pod-1', ip: '10.0.0.1' }),
  see(600, observed.mounted, 'a', { device: 'loop1' }),
  see(900, observed.deviceWritten, 'a', { device: 'loop1', generation: 1, bytesWritten: 1000 }),
  { type: 'action', t: 1000, actor: 'fault', name: 'network-partition', step: 'begin', node: 'a' },
  { type: 'action', t: 1100, actor: 'fault', name: 'network-partition', step: 'done', node: 'a' },
];

const secondMount: SmallRecord[] = [
  see(41_000, observed.nodeReady, 'a', { status: 'Unknown' }),
  see(341_000, observed.podTerminating, 'a', { uid: 'pod-1' }),
  { type: 'action', t: 341_500, actor: 'remedy', name: 'force-delete', step: 'begin', node: 'a' },
  see(341_600, observed.podGone, 'a', { uid: 'pod-1' }),
  see(701_600, observed.forceDetachLog, undefined, {
    line: 'maxWaitForUnmountDuration expired, force detaching',
  }),
  see(701_700, observed.attachmentGone, 'a', { volume: 'v' }),
  see(702_000, observed.attachmentAttached, 'b', { volume: 'v' }),
  see(702_900, observed.deviceWritten, 'b', { device: 'loop2', generation: 2, bytesWritten: 512 }),
  see(703_000, observed.mounted, 'b', { device: 'loop2' }),
  see(704_000, observed.podReady, 'b', { uid: 'pod-2', ready: true }),
  see(710_000, observed.deviceWritten, 'a', { device: 'loop1', generation: 1, bytesWritten: 4000 }),
  see(712_000, observed.deviceWritten, 'b', { device: 'loop2', generation: 2, bytesWritten: 9000 }),
];

const end: SmallRecord[] = [
  { type: 'phase', t: 720_000, phase: 'heal' },
  see(732_900, observed.unmounted, 'a', { device: 'loop1' }),
  { type: 'phase', t: 760_000, phase: 'report' },
];

const story = (...parts: SmallRecord[][]): Story => tellStory(parts.flat(), mysql);

test('phases are seconds after the fault', () => {
  expect(phasesOf(story(begin, secondMount, end), 705_000)).toEqual({
    notReady: 40,
    evicted: 340,
    podRemoved: 340.6,
    detached: 700.7,
    attached: 701,
    secondMount: 702,
    recovered: 703,
    firstCommit: 704,
  });
});

test('what happens after the heal is no phase of the fault', () => {
  const afterHeal = [see(725_000, observed.podGone, 'a', { uid: 'pod-1' })];
  const {
    podRemoved,
    firstCommit,
    secondMount: second,
  } = phasesOf(story(begin, end, afterHeal), 726_000);
  expect(podRemoved).toBeNull();
  expect(firstCommit).toBeNull();
  expect(second).toBeNull();
});

test('exposure runs from the successor’s first access to the victim’s unmount', () => {
  expect(exposureOf(story(begin, secondMount, end)).summary).toEqual({
    ms: 30_000,
    bytesVictim: 3000,
    bytesSuccessor: 9000,
  });
});

test('a victim that was cut before the successor wrote exposes nothing', () => {
  const cut = [see(702_000, observed.deviceCut, 'a', { device: 'loop1' })];
  const others = secondMount.filter(({ t }) => t !== 710_000);
  expect(exposureOf(story(begin, cut, others, end)).summary.ms).toBe(0);
  // A counter that grows after the cut says that there was none.
  expect(exposureOf(story(begin, cut, secondMount, end)).summary.ms).toBe(22_900);
});

test('without a second mount there is no exposure and no licence', () => {
  expect(exposureOf(story(begin, end)).summary.ms).toBe(0);
  expect(licencesOf(story(begin, end)).first).toBeUndefined();
});

test('the licence names every decision in order of time', () => {
  expect(
    licencesOf(story(begin, secondMount, end)).first?.steps.map(({ atS, step }) => [atS, step]),
  ).toEqual([
    [40, 'the node was declared unreachable'],
    [340, 'the pod was evicted (it is Terminating)'],
    [340.5, 'the operator acted: force-delete'],
    [340.6, 'the pod object was gone'],
    [700.6, 'the attach/detach controller gave up waiting for the unmount'],
    [700.7, 'the VolumeAttachment was deleted'],
    [702, 'the volume was mounted a second time'],
  ]);
});

test('declared ReadWriteMany, the volume is attached twice, and a later detach is no licence', () => {
  const [run, ...rest] = begin;
  if (run?.type !== 'run') throw new Error('the first record is the run');
  const many = { ...run, scenario: { ...run.scenario, accessMode: 'ReadWriteMany' as const } };
  const chain = story(
    [many, ...rest],
    [
      see(12_000, observed.podGone, 'a', { uid: 'pod-1' }),
      see(13_000, observed.attachmentAttached, 'b', { volume: 'v' }),
      see(14_000, observed.mounted, 'b', { device: 'loop2' }),
      see(44_000, observed.attachmentGone, 'a', { volume: 'v' }),
    ],
    end,
  );
  expect(licencesOf(chain).first?.steps.map(({ step }) => step)).toEqual([
    'the pod object was gone',
    'the volume, declared ReadWriteMany, was attached a second time before the detach',
    'the volume was mounted a second time',
  ]);
});

const server = { podUid: 'p', startedAtS: 0 };

test('downtime is the longest gap of the outside client, the end of the run included', () => {
  const meter = new ServiceMeter({ faultAtMs: 1000, endAtMs: 9000, victimNode: 'a' });
  const op = { connection: 0, session: 0, seq: 0 };
  for (const [client, session, node] of [
    ['inside', 0, 'a'],
    ['outside', 0, 'a'],
    ['outside', 1, 'b'],
  ] as const) {
    meter.see({
      type: 'session',
      t: 0,
      client,
      connection: 0,
      session,
      server: { ...server, node },
    });
  }
  const ack = (t: number, client: string, session: number): void =>
    meter.see({ type: 'outcome', t, client, ...op, session, outcome: 'ok' });
  ack(900, 'outside', 0);
  ack(3000, 'inside', 0);
  ack(5000, 'outside', 1);
  expect(meter.result()).toEqual({
    acked: 3,
    firstSuccessorAckMs: 5000,
    lastVictimAckMs: 3000,
    downtimeMs: 4100,
    successorServesOn: true,
  });
});

test.each([
  ['outside', 'b', 14_000, true],
  ['outside', 'b', 16_000, false],
  ['outside', 'a', 14_000, false],
  ['inside', 'b', 14_000, false],
] as const)('who serves on: %s on %s, stopped at %i: %s', (client, node, endAtMs, serves) => {
  const meter = new ServiceMeter({ faultAtMs: 1000, endAtMs, victimNode: 'a' });
  const session = { client, connection: 0, session: 0 };
  meter.see({ type: 'session', t: 0, ...session, server: { ...server, node } });
  meter.see({ type: 'outcome', t: 5000, ...session, seq: 0, outcome: 'ok' });
  expect(meter.result().successorServesOn).toBe(serves);
});
