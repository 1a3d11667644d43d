/** A fault is held against its certificates, Kubernetes and clients. */
import { expect, test } from 'vitest';
import { runRecord, see } from '../../../test/support/run-record.ts';
import type { CertificateRecord } from '../../history/events.ts';
import { observed } from '../../history/observations.ts';
import type { SmallRecord } from '../../history/reader.ts';
import { cutOffAnswerMeter } from '../../timeline/cut-off-answers.ts';
import { tellStory } from '../../timeline/story.ts';
import { certificateGaps } from './certificate-gaps.ts';
import { cutOffWindowOf, effectGaps, refutedBy } from './fault-effect.ts';
import type { ScenarioInput } from '../scenario.ts';
import { mysql } from '../../mysql/database.ts';

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
  const story = tellStory(records, mysql);
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
  const story = tellStory(whole(fields), mysql);
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
    'no certificate shows whether network-partition still held when it was healed',
  ]);
  expect(askedAt([...everyMinute.filter((t) => t < 100 || t > 300), 899])).toEqual([
    'no certificate shows whether network-partition still held from 70.0 s to 310.0 s',
  ]);
  // One that began right before, or that was asked of another time, does not count.
  expect(askedAt([899])).toHaveLength(1);
});

test('a history of version 1 has one answer, and needs no more', () => {
  const imaged: SmallRecord = { type: 'phase', t: 890_000, phase: 'first-image' };
  expect(gaps([...whole(), imaged])).toEqual([]);
});
