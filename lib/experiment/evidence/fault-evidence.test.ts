/** A fault is held against its certificates, Kubernetes and clients; observers against each other. */
import { expect, test } from 'vitest';
import { memoryWrites } from '../../../test/support/memory-writes.ts';
import { runRecord, see } from '../../../test/support/run-record.ts';
import type { CertificateRecord } from '../../history/events.ts';
import { csiCalls, observed } from '../../history/observations.ts';
import type { SmallRecord } from '../../history/reader.ts';
import { writeOps } from '../../history/writes.ts';
import { cutOffAnswerMeter } from '../../timeline/cut-off-answers.ts';
import { tellStory } from '../../timeline/story.ts';
import { certificateGaps } from './certificate-gaps.ts';
import { disagreements } from './disagreements.ts';
import { cutOffWindowOf, effectGaps, refutedBy } from './fault-effect.ts';
import type { ScenarioInput } from '../scenario.ts';

const step = (t: number, of: 'begin' | 'done' | 'heal' | 'healed'): SmallRecord => ({
  ...{ type: 'action', actor: 'fault', name: 'network-partition' },
  ...{ t, step: of, node: 'a' },
});

const certificate = (t: number, moment: CertificateRecord['moment']): SmallRecord => ({
  ...{ type: 'certificate', fault: 'network-partition', claim: '', holds: true, evidence: '' },
  ...{ t, moment },
});

const setup: SmallRecord = {
  ...{ type: 'setup', t: 1, versions: {}, nodes: ['a', 'b'] },
  timers: {
    ...{ nodeMonitorGraceMs: 50_000, nodeMonitorPeriodMs: 5000, kubeletLeaseMs: 40_000 },
    ...{ kubeletStatusMs: 10_000, tolerationMs: 300_000, forceDetachAfterMs: 360_000 },
    terminationGraceMs: 30_000,
  },
};

const notReady = see(60_000, observed.nodeReady, 'a', { status: 'Unknown' });

/** A partition from 10 s to 900 s. */
const whole = (fields: Partial<ScenarioInput> = {}): SmallRecord[] => [
  runRecord(fields),
  setup,
  certificate(9000, 'before'),
  step(10_000, 'begin'),
  step(11_000, 'done'),
  certificate(11_500, 'during'),
  notReady,
  { type: 'phase', t: 899_000, phase: 'heal' },
  step(900_000, 'heal'),
  step(901_000, 'healed'),
  certificate(902_000, 'after'),
];

const gaps = (records: readonly SmallRecord[]): string[] => {
  const story = tellStory(records);
  return [...certificateGaps(story), ...effectGaps(story)];
};

test('a fault that is proven from before to after, and that Kubernetes noticed, lacks nothing', () => {
  expect(gaps(whole())).toEqual([]);
});

test.each(['before', 'during', 'after'])('without a certificate %s one is asked for', (moment) => {
  const fewer = whole().filter((each) => each.type !== 'certificate' || each.moment !== moment);
  expect(gaps(fewer)).toHaveLength(1);
});

test('a certificate of another time is none of this fault', () => {
  const moved = whole().map((each) =>
    each.type === 'certificate' ? { ...each, t: 950_000 } : each,
  );
  expect(gaps(moved)).toEqual([
    'no certificate says that network-partition found its victim whole',
    'no certificate says that network-partition took effect',
  ]);
});

test('a node that stays Ready past the grace period was not cut off', () => {
  const ready = whole().filter((each) => each !== notReady);
  expect(gaps(ready)[0]).toMatch(/^the fault did not take effect on Kubernetes: a was never/);
  const leased = whole({ also: 'lease-write' }).filter((each) => each !== notReady);
  expect(gaps(leased)).toEqual([]);
  const short = ready.map((each) => (each.t >= 899_000 ? { ...each, t: each.t - 819_000 } : each));
  expect(gaps(short)).toEqual([]);
});

test('a node that is Ready again before the heal was back', () => {
  const back = see(100_000, observed.nodeReady, 'a', { status: 'True' });
  expect(gaps([...whole(), back])).toEqual([
    'a was Ready again 90.0 s after the fault began, while network-partition is said to last until 890.0 s',
  ]);
  expect(gaps([...whole(), { ...back, t: 905_000 }])).toEqual([]);
});

function refuted(atMs: number, client: string, node: string, fields = {}): string[] {
  const story = tellStory(whole(fields));
  const meter = cutOffAnswerMeter(cutOffWindowOf(story));
  const id = { client, connection: 0, session: 0 };
  const server = { node, podUid: 'u', serverUuid: 's', startedAtS: 1 };
  meter.see({ type: 'session', t: 5000, ...id, server });
  meter.see({ type: 'outcome', t: atMs, ...id, seq: 1, outcome: 'ok' });
  return refutedBy(story, meter.result());
}

test('an answer of the victim to an outside client refutes the partition', () => {
  expect(refuted(120_000, 'outside', 'a')).toEqual([
    'an outside client had 1 answers of the victim, from 110.0 s after the fault began: network-partition did not cut it off',
  ]);
});

test('neither the inside client’s, nor the successor’s, nor one under way, nor one after the heal', () => {
  expect(refuted(120_000, 'inside', 'a')).toEqual([]);
  expect(refuted(120_000, 'outside', 'b')).toEqual([]);
  expect(refuted(12_000, 'outside', 'a')).toEqual([]);
  expect(refuted(900_500, 'outside', 'a')).toEqual([]);
});

/** Asked again as `t` say; the first image was taken at 890 s. */
function askedAt(times: readonly number[], fields: Partial<ScenarioInput> = {}): string[] {
  const [run, ...rest] = whole(fields);
  const asked = times.map((t) => certificate(t * 1000, 'during'));
  const imaged: SmallRecord = { type: 'phase', t: 890_000, phase: 'first-image' };
  const records = [...rest, ...asked, imaged].toSorted((a, b) => a.t - b.t);
  return gaps([{ ...run, schemaVersion: 2 } as SmallRecord, ...records]);
}
const everyMinute = Array.from({ length: 14 }, (_, index) => 70 + 60 * index);

test('a fault is asked again until its image, and right before it is healed', () => {
  expect(askedAt([...everyMinute, 899])).toEqual([]);
  expect(askedAt(everyMinute)).toEqual([
    'nobody asked whether network-partition still held when it was healed',
  ]);
  expect(askedAt([...everyMinute.filter((t) => t < 100 || t > 300), 899])).toEqual([
    'nobody asked whether network-partition still held from 70.0 s to 310.0 s',
  ]);
  // One that began right before, or that was asked of another time, does not count.
  expect(askedAt([899])).toHaveLength(1);
});

test('a history of version 1 has one answer, and needs no more', () => {
  const imaged: SmallRecord = { type: 'phase', t: 890_000, phase: 'first-image' };
  expect(gaps([...whole(), imaged])).toEqual([]);
});

const staged = see(100_000, observed.csiCall, 'b', { call: csiCalls.stage, durationMs: 500 });
const mounted = see(100_400, observed.mounted, 'b', { generation: 2 });

const compared = (records: readonly SmallRecord[]): string[] =>
  disagreements(tellStory([...whole(), ...records].toSorted((a, b) => a.t - b.t)), undefined);

test('what the driver staged is seen mounted, and what is mounted was staged', () => {
  expect(compared([staged, mounted])).toEqual([]);
  expect(compared([staged])).toEqual([
    'NodeStageVolume succeeded on b at 100.5 s, and no observer saw the volume mounted there',
  ]);
  expect(compared([mounted])).toEqual([
    'the volume was mounted on b at 100.4 s, and the driver tells of no NodeStageVolume',
  ]);
});

test('a stage that failed, or was undone at once, needs no mount', () => {
  expect(compared([{ ...staged, data: { ...staged.data, error: 'FSCK_REFUSED' } }])).toEqual([]);
  const undone = see(101_000, observed.csiCall, 'b', { call: csiCalls.unstage, durationMs: 9 });
  expect(compared([staged, undone])).toEqual([]);
});

const mebibyte = 1024 ** 2;
const log = memoryWrites([
  { op: writeOps.write, generation: 1, length: 8 * mebibyte },
  { op: writeOps.zero, generation: 2, length: 8 * mebibyte },
]);
const counter = (bytesWritten: number): SmallRecord =>
  see(20_000, observed.deviceWritten, 'a', { generation: 1, bytesWritten });

test('the log of writes and the devices tell of the same bytes', () => {
  const logged = (records: readonly SmallRecord[]): string[] =>
    disagreements(tellStory([...whole(), ...records]), log);
  expect(logged([counter(8 * mebibyte)])).toEqual([]);
  expect(logged([])).toEqual([
    'the log of writes has 8388608 bytes of generation 1, and the devices’ observer saw 0',
  ]);
  expect(logged([counter(10 * mebibyte)])).toEqual([
    'the devices’ observer saw 10485760 bytes of generation 1, and the log of writes has 8388608',
  ]);
  // The path was opened again and counts anew.
  expect(logged([counter(5 * mebibyte), counter(3 * mebibyte)])).toEqual([]);
});
