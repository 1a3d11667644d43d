import { expect, test } from 'vitest';
import { classify } from './detach.ts';
import { type MeasuredClass, measure } from './measured.ts';
import { type TrialRecord, emptyJournal } from './record.ts';
import { figure } from './figures.ts';
import { type Kind, nextIn, nextOut, trialOf } from '../../../test/support/probe-trial.ts';

const inAfter = nextIn(61_000);
const refused = nextOut('FailedMount', 'MountVolume.MountDevice failed for volume "x": in use');
const barred = nextOut('FailedAttachVolume', 'Volume is already used by pod(s) a');

function measured(kept: Kind, contested: Kind, next: Partial<TrialRecord>): MeasuredClass {
  const records = [1, 2, 3].flatMap(() => [
    trialOf(kept),
    trialOf({ ...contested, variant: 'contested' }, next),
  ]);
  return measure(records.map(classify));
}

test.each([
  ['fenced', { cutMs: 150 }, { cutMs: 150 }, inAfter],
  ['ack-early', { cutMs: 5250 }, { cutMs: 5250 }, inAfter],
  ['pending-while-busy', { goneMs: Infinity }, { goneMs: Infinity }, barred],
  ['exclusive', {}, {}, refused],
  ['reservation', {}, { cutMs: 60_000 }, inAfter],
] as const)('%s', (mode, kept, contested, next) => {
  expect(measured(kept, contested, next)).toMatchObject({ mode, modes: [mode], notes: [] });
});

test.each([
  ['alike without a taint', inAfter, ['unfenced', 'fence-if-out-of-service'], /out of service/],
  [
    'no next pod had the volume',
    barred,
    ['unfenced', 'fence-if-out-of-service', 'exclusive', 'reservation'],
    /none had the volume/,
  ],
])('several agree, and no mode is chosen: %s', (_, next, expected, note) => {
  const { mode, modes, notes } = measured({}, {}, next);
  expect({ mode, modes }).toEqual({ mode: undefined, modes: expected });
  expect(notes.join()).toMatch(note);
});

test('trials that disagree are no mode, and all that was seen is said', () => {
  const findings = [trialOf({ cutMs: 150 }), trialOf({})].map(classify);
  expect(measure(findings)).toMatchObject({
    ...{ mode: undefined, modes: [] },
    notes: ['no known mode does all of this: kept: cut; kept: not-cut'],
  });
});

const stays = { readBack: 'waited 120 s in vain' };
const scanned = { nextJournal: { ...emptyJournal, scans: [{ atMs: 0, ranges: [] }] } };
const nextIs = nextOut('FailedAttachVolume', 'AttachVolume.Attach failed: attached to a');

test.each([
  ['answers an error, yet cuts', { goneMs: Infinity, cutMs: 150 }, barred],
  ['answers an error, and cuts nobody', { goneMs: Infinity }, barred],
  ['answers, and forgets', {}, nextIs],
] as const)('a driver that %s is of no mode', (_, kind, next) => {
  const findings = [trialOf(kind, stays), trialOf({ ...kind, variant: 'contested' }, next)].map(
    classify,
  );
  const { mode, modes, notes } = measure(findings);
  expect({ mode, modes }).toEqual({ mode: undefined, modes: [] });
  expect(notes.join()).toContain('with the writer gone, none of 1 volumes');
});

test('a driver that gives a volume away whose detach it refuses is of no mode', () => {
  const given = (lastSeenMs: number): MeasuredClass => {
    const first = { uid: '1', firstSeenMs: 0, lastSeenMs, detachError: 'no' };
    const next = { uid: '2', firstSeenMs: 0, lastSeenMs: 0, attachedMs: 1_100_000 };
    const attachments = { attachments: [first], nextAttachment: next };
    return measure([classify(trialOf({ goneMs: Infinity }, { ...attachments, ...scanned }))]);
  };
  expect(given(1_100_500).mode).toBe('pending-while-busy');
  expect(given(1_102_000)).toMatchObject({ mode: undefined, modes: [] });
  expect(given(1_102_000).notes.join()).toContain('given 1 volumes whose detach');
});

test('one volume that was slow to be handed over is no sign of a lie', () => {
  const findings = [trialOf({ cutMs: 150 }, stays), trialOf({ cutMs: 150 }, scanned)].map(classify);
  expect(measure(findings).mode).toBe('fenced');
});

test('of an undecided class the driver is quoted', () => {
  const refusing = [{ uid: '1', firstSeenMs: 0, lastSeenMs: 0, detachError: 'no' }];
  const findings = [classify(trialOf({ goneMs: Infinity }, { ...stays, attachments: refusing }))];
  expect(measure(findings).notes).toContain('the driver said of a detach: no');
});

test('one late cut tells an early answer, where others came between two looks', () => {
  const seen = (...cutsMs: number[]): MeasuredClass =>
    measure(cutsMs.map((cutMs) => classify(trialOf({ cutMs }))));
  expect(seen(150, 5250).mode).toBe('ack-early');
  expect(seen(150, 150).mode).toBe('fenced');
});

test('nothing decided: no mode', () => {
  const findings = [classify(trialOf({}, { ended: 'x' }))];
  expect(measure(findings)).toMatchObject({ mode: undefined, modes: [] });
  expect(measure([])).toMatchObject({ mode: undefined, modes: [] });
});

test('percentiles are values that were measured', () => {
  expect(figure('x', [5, 1, 9, 3])).toEqual({
    ...{ what: 'x', n: 4, leastMs: 1, p50Ms: 3, p90Ms: 9, mostMs: 9 },
  });
});

test('most trials have to be decided', () => {
  const of = (decided: number, open: number): MeasuredClass =>
    measure([
      ...Array.from({ length: decided }, () => classify(trialOf({ cutMs: 150 }))),
      ...Array.from({ length: open }, () => classify(trialOf({}, { ended: 'x' }))),
    ]);
  expect(of(1, 4)).toMatchObject({ mode: undefined, modes: [] });
  expect(of(1, 4).notes).toContain('only 1 of 5 trials could be decided');
  expect(of(2, 2)).toMatchObject({ mode: undefined, modes: [] });
  expect(of(4, 1).mode).toBe('fenced');
});
