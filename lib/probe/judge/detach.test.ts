import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type DetachOutcome, type DetachRecord, classify } from './detach.ts';
import { type TrialRecord, emptyJournal } from './record.ts';
import {
  deletedMs,
  horizonMs,
  type Kind,
  nextIn,
  nextOut,
  renumbered,
  trialOf,
  trialPlan,
  writesOf,
} from '../../../test/support/probe-trial.ts';

const judged = (record: DetachRecord) => classify(record, trialPlan);
const contested = { variant: 'contested' } as const;
const outcomeOf = (...of: Parameters<typeof trialOf>): DetachOutcome =>
  judged(trialOf(...of)).outcome;

const words = { uid: 'u1', firstSeenMs: 1, lastSeenMs: 2, detachError: 'volume is in use' };
const scans = [{ atMs: 1_000_000 + horizonMs + 30_000, ranges: [[0, 109]] as const }];
const in61 = nextIn(61_000);

test.each<[string, DetachOutcome, Kind, Partial<TrialRecord>?, object?]>([
  [
    ...(['is cut off with the detach', 'cut', { cutMs: 150, goneMs: 250 }, {}] as const),
    { answerMs: 250, firstErrorMs: 150, error: 'EIO', ackedAfterAnswer: 0 },
  ],
  [
    'is cut off after the answer: how long, and how many more it wrote',
    ...(['late-cut', { cutMs: 10_250, goneMs: 250 }, {}] as const),
    { tailMs: 9951, ackedAfterAnswer: 199 },
  ],
  ['is cut off a minute later', 'late-cut', { cutMs: 60_000 }],
  ['is cut off, and the answer is an error', 'cut-unanswered', { cutMs: 200, goneMs: Infinity }],
  ['writes on after the answer', 'not-cut', {}],
  [
    ...(['writes on, and the detach hangs', 'pending', { goneMs: Infinity }] as const),
    ...([{ attachments: [words] }, { detachError: 'volume is in use' }] as const),
  ],
  [
    'is cut off, and gets through again: neither',
    ...(['undecided', { cutMs: 200, backMs: 30_000 }, {}] as const),
    { why: expect.stringMatching(/EIO.*acknowledged again after 100\.0 s/) },
  ],
  [
    'was told of writes that are not on the disk',
    ...(['not-cut', {}, { nextJournal: { ...emptyJournal, scans } }] as const),
    { lostAcks: 2100 - 110 },
  ],
  [
    ...(['writes on, with the next pod in', 'not-cut', contested, in61] as const),
    { next: { was: 'in', afterMs: 61_000 } },
  ],
  ['is cut off as the next pod stages', 'cut-by-next', { ...contested, cutMs: 60_000 }, in61],
  ['is cut off before that', 'late-cut', { ...contested, cutMs: 30_000 }, in61],
  ['is cut off after that', 'late-cut', { ...contested, cutMs: 80_000 }, in61],
  ['is cut off late in the watch', 'undecided', { cutMs: horizonMs - 2000 }],
  ['had errors before the detach', 'undecided', { cutMs: -1000 }],
])('a writer that %s', (_, outcome, kind, change = {}, more = {}) => {
  expect(judged(trialOf(kind, change))).toMatchObject({ outcome, ...more });
});

describe('undecided, with the reason', () => {
  const base = trialOf({ cutMs: 150 });
  const { writes } = base.writerJournal;
  const writer = { node: 'b', createdMs: deletedMs - 9000 };
  test.each<[string, object, RegExp]>([
    ['a line is missing', { writerJournal: { ...base.writerJournal, gaps: 1 } }, /1 lines/],
    ['it failed', { writerJournal: { ...emptyJournal, failed: 'ENOENT' } }, /ENOENT/],
    ['it hangs', { writerJournal: { ...emptyJournal, writes: writes.slice(0, 200) } }, /nothing/],
    [
      'few writes',
      { writerJournal: { ...emptyJournal, writes: renumbered(writes.slice(90)) } },
      /only 10/,
    ],
    ['no clock', { clockErrorMs: undefined }, /clock/],
    ['no delete', { deleteAskedMs: undefined }, /not deleted/],
    ['a step failed', { ended: 'TRIAL_TIMED_OUT: x' }, /TIMED_OUT/],
    [
      'one node',
      { writer, ...in61 },
      /^the node of the pod \(the first pod\): a by the plan, b by the pods’ observer/,
    ],
    [
      ...(['a short watch', { watchEndedMs: deletedMs + 30_000 }] as const),
      /watched by the plan, no longer watched by the probe at 30.0 s/,
    ],
  ])('%s', (_, change, why) => {
    expect(judged({ ...base, ...change })).toMatchObject({
      ...{ outcome: 'undecided', why: expect.stringMatching(why) },
    });
  });
});

/** A writer that is quiet from a second before the delete for 41 s. */
function quiet(cutMs: number, { goneMs = 250, error = 'EIO' } = {}): DetachOutcome {
  const [quietMs, loudMs] = [deletedMs - 1000, deletedMs + 40_000];
  const writes = writesOf({ cutMs })
    .filter(({ begunMs }) => begunMs < quietMs || begunMs >= loudMs)
    .map((write) => (write.error === undefined ? write : { ...write, error }));
  const writerJournal = { ...emptyJournal, writes: renumbered(writes), quietMs, loudMs };
  return outcomeOf({ variant: 'idle', goneMs }, { writerJournal });
}

test('a writer that was quiet finds itself cut, or not, at its first write', () => {
  expect(quiet(200)).toBe('cut');
  expect(quiet(45_000)).toBe('late-cut');
  expect(quiet(Infinity)).toBe('not-cut');
  expect(quiet(Infinity, { goneMs: Infinity })).toBe('pending');
  expect(quiet(40_000, { error: 'ENOSPC' })).toBe('undecided');
});

const attach = 'FailedAttachVolume';
test.each([
  ['refused', 'FailedMount', 'MountVolume.MountDevice failed for volume "x": in use'],
  ['refused', 'FailedMapVolume', 'MapVolume.SetUpDevice failed for volume "x": in use'],
  // What kubelet does by itself.
  ['waited', 'FailedMapVolume', 'MapVolume.MapBlockVolume failed for volume "x": losetup'],
  ['waited', 'FailedMount', 'Unable to attach or mount volumes: timed out waiting'],
  ['not-attached', attach, 'AttachVolume.Attach failed: attached to a'],
  ['barred', attach, 'Multi-Attach error for volume "x" Volume is already used by pod(s) a'],
  // From Kubernetes 1.37 on.
  ['barred', attach, 'Waiting for detach for volume "x" Volume is already used by pod(s) a'],
])('a next pod was %s: %s: %s', (was, reason, message) => {
  const said = was === 'waited' ? undefined : message;
  const { next } = judged(trialOf(contested, nextOut(reason, message)));
  expect([next.was, next.said]).toEqual([was, said]);
});

test.each([
  ...['ENOSPC', 'EDQUOT', 'ENOMEM', 'EAGAIN', 'EINTR', 'EMFILE'].map((error) => [
    error,
    'undecided',
  ]),
  ...['EIO', 'EROFS', 'ENODEV', 'EBADE'].map((error) => [error, 'cut']),
])('errors of the machine are no fence, and those of the disk are: %s: %s', (error, outcome) => {
  const writes = writesOf({ cutMs: 150 }).map((write) =>
    write.error === undefined ? write : { ...write, error },
  );
  expect(outcomeOf({ cutMs: 150 }, { writerJournal: { ...emptyJournal, writes } })).toBe(outcome);
});

describe('whatever the record', () => {
  const kinds = fc.record({
    variant: fc.constantFrom('kept', 'contested'),
    goneMs: fc.oneof(fc.integer({ min: 10, max: 90_000 }), fc.constant(Infinity)),
    cutMs: fc.oneof(fc.integer({ min: -4000, max: 99_000 }), fc.constant(Infinity)),
    behindMs: fc.integer({ min: -100_000, max: 100_000 }),
  });

  test("the node's clock does not matter", () => {
    const check = fc.property(kinds, (kind) => {
      const shown = (behindMs: number): unknown => judged(trialOf({ ...kind, behindMs }));
      expect(shown(kind.behindMs)).toEqual(shown(0));
    });
    fc.assert(check, { numRuns: 40 });
  });

  test('a writer that was seen to write at the end is never called cut, nor the other way', () => {
    const check = fc.property(kinds, (kind) => {
      const outcome = outcomeOf(kind);
      if (kind.cutMs === Infinity) expect(['not-cut', 'pending']).toContain(outcome);
      else expect(['not-cut', 'pending']).not.toContain(outcome);
      if (kind.goneMs === Infinity) expect(['cut', 'late-cut', 'not-cut']).not.toContain(outcome);
    });
    fc.assert(check, { numRuns: 60 });
  });
});
