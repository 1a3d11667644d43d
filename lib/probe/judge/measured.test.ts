import { expect, test } from 'vitest';
import { type DetachRecord, classify } from './detach.ts';
import { type MeasuredClass, measure } from './measured.ts';
import { type TrialRecord, emptyJournal } from './record.ts';
import { figure } from './heard.ts';
import {
  type Kind,
  nextIn,
  nextOut,
  trialOf,
  trialPlan,
} from '../../../test/support/probe-trial.ts';

const judged = (record: DetachRecord) => classify(record, trialPlan);
const inAfter = nextIn(61_000);
const refused = nextOut('FailedMount', 'MountVolume.MountDevice failed for volume "x": in use');
const barred = nextOut('FailedAttachVolume', 'Volume is already used by pod(s) a');

function measured(kept: Kind, contested: Kind, next: Partial<TrialRecord>): MeasuredClass {
  const records = [1, 2, 3].flatMap(() => [
    trialOf(kept),
    trialOf({ ...contested, variant: 'contested' }, next),
  ]);
  return measure(records.map(judged));
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
  const findings = [trialOf({ cutMs: 150 }), trialOf({})].map(judged);
  expect(measure(findings)).toMatchObject({
    ...{ mode: undefined, modes: [] },
    notes: ['no known mode does all of this: kept: cut; kept: not-cut'],
  });
});

const stays = { readBack: 'waited 120 s in vain' };
const scanned = { nextJournal: { ...emptyJournal, scans: [{ atMs: 0, ranges: [] }] } };
const nextIs = nextOut('FailedAttachVolume', 'AttachVolume.Attach failed: attached to a');

const modesOf = (...records: Parameters<typeof judged>[0][]): MeasuredClass =>
  measure(records.map(judged));
const hangs = { goneMs: Infinity };
const cuts = { cutMs: 150 };
const open = trialOf({}, { ended: 'x' });
const refusing = [{ uid: '1', firstSeenMs: 0, lastSeenMs: 0, detachError: 'no' }];

/** The other node is given it so long before the detach from the first one ends. */
function givenTwice(besideMs: number): MeasuredClass {
  const first = { uid: '1', firstSeenMs: 0, lastSeenMs: 1_100_000 + besideMs, detachError: 'no' };
  const next = { uid: '2', firstSeenMs: 0, lastSeenMs: 0, attachedMs: 1_100_000 };
  return modesOf(trialOf(hangs, { attachments: [first], nextAttachment: next, ...scanned }));
}
const twice = (kind: Kind, next: Partial<TrialRecord>): MeasuredClass =>
  modesOf(trialOf(kind, stays), trialOf({ ...kind, variant: 'contested' }, next));

test.each<[string, MeasuredClass['mode'], MeasuredClass, string?]>([
  ...(
    [
      ['answers an error, yet cuts', { ...hangs, ...cuts }, barred],
      ['answers an error, and cuts nobody', hangs, barred],
      ['answers, and forgets', {}, nextIs],
    ] as const
  ).map(([what, kind, next]): [string, undefined, MeasuredClass, string] => [
    ...([what, undefined] as const),
    ...([twice(kind, next), 'with the writer gone, none of 1 volumes'] as const),
  ]),
  ['gives a volume away a moment before its detach ends', 'pending-while-busy', givenTwice(500)],
  [
    'gives a volume away whose detach it refuses',
    ...([undefined, givenTwice(2000), 'given 1 volumes whose detach'] as const),
  ],
  ['is slow to hand one over', 'fenced', modesOf(trialOf(cuts, stays), trialOf(cuts, scanned))],
  [
    ...(['refuses, and is quoted', undefined] as const),
    modesOf(trialOf(hangs, { ...stays, attachments: refusing })),
    'the driver said of a detach: no',
  ],
  // The other cut came between two looks.
  ['answers early once', 'ack-early', modesOf(trialOf(cuts), trialOf({ cutMs: 5250 }))],
  ['never answers early', 'fenced', modesOf(trialOf(cuts), trialOf(cuts))],
  ['was never decided', undefined, modesOf(open), 'no trial could be decided'],
  ['was never tried', undefined, modesOf(), 'no trial could be decided'],
  [
    ...(['was decided once in five', undefined] as const),
    ...([modesOf(trialOf(cuts), open, open, open, open), 'only 1 of 5 trials'] as const),
  ],
  ['was decided half', undefined, modesOf(trialOf(cuts), trialOf(cuts), open, open)],
  ['was decided mostly', 'fenced', modesOf(trialOf(cuts), trialOf(cuts), open)],
])('a driver that %s: %s', (_, mode, { modes, notes, ...answer }, note = '') => {
  expect([answer.mode, modes]).toEqual([mode, mode === undefined ? [] : [mode]]);
  expect(notes.join()).toContain(note);
});

test('percentiles are values that were measured', () => {
  expect(figure('x', [5, 1, 9, 3])).toEqual({
    ...{ what: 'x', n: 4, leastMs: 1, p50Ms: 3, p90Ms: 9, mostMs: 9 },
  });
});
