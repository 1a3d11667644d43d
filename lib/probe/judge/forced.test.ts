/** Pods that were deleted by force: how long they wrote on, and that two writers are never passed over. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { classifyForced, measureForced } from './forced.ts';
import { judgeTrials } from './measured.ts';
import type { TrialRecord } from './record.ts';
import { forcedMeaning, measuredText } from '../texts.ts';
import type { Certificate } from '../certificate.ts';
import {
  deletedMs,
  forcedOf,
  nextOut,
  renumbered,
  trialOf,
  trialPlan,
} from '../../../test/support/probe-trial.ts';

const judged = (record: TrialRecord) => classifyForced(record, trialPlan);

test('a writer that its kubelet ends: how long it wrote, how much, and when the next one came', () => {
  const writerJournal = { ...forcedOf().writerJournal, termMs: deletedMs + 350 };
  const record = forcedOf(
    {},
    {
      ...{ writerJournal, thereUntilMs: deletedMs + 11_900, goneMs: deletedMs + 12_000 },
    },
  );
  expect(judged(record)).toMatchObject({
    ...{ outcome: 'ended-first', termMs: 350, lastAckMs: 2001, lastOnDiskMs: 2000 },
    ...{ ackedAfter: 40, reachedAfter: 40, lostAcks: 0, overlapAcks: 0, overlapSlots: 0 },
    ...{ detachedMs: 12_000, nextAttachedMs: 18_000, next: { was: 'in', afterMs: 20_000 } },
    why: 'last heard of 2.0 s after the delete, 18.0 s before the next pod ran',
  });
});

const { writerJournal: ended } = forcedOf({ killMs: 1000 });
const { nextJournal: read } = forcedOf({ killMs: 30_000 });
const blind = [{ atMs: 0, error: 'EIO' }];

test.each<[string, Partial<TrialRecord>, object?]>([
  ['the clocks and the slots', {}, { why: expect.stringContaining('both pods had the volume') }],
  [
    ...(['the slots alone, where its own words were lost', { writerJournal: ended }] as const),
    { overlapAcks: 0, lastOnDiskMs: 30_000 },
  ],
  [
    'its own words alone, where the next pod could not read',
    { nextJournal: { ...read, scans: [], blind } },
  ],
  ['either, whatever else is missing', { ended: 'TRIAL_TIMED_OUT: x' }],
])('a writer that goes on beside the next one is told by %s', (_, change, more = {}) => {
  const found = judged(forcedOf({ killMs: 30_000 }, change));
  expect(found).toMatchObject({ outcome: 'overlapped', ...more });
  expect(found.overlapAcks + found.overlapSlots).toBeGreaterThan(190);
});

test('none is made up where the first look at the disk failed, and was not of the whole', () => {
  const { nextJournal } = forcedOf();
  const [first, ...others] = nextJournal.scans;
  if (first === undefined) throw new Error('there are scans');
  const scans = [{ ...first, ranges: [[50, 139]] as const }, ...others];
  const found = judged(forcedOf({}, { nextJournal: { ...nextJournal, scans, blind } }));
  expect(found).toMatchObject({ outcome: 'undecided', overlapSlots: 0 });
});

test('two writers are told whenever they are, and never of one that ended first', () => {
  const times = fc.record({
    killMs: fc.integer({ min: 100, max: 60_000 }),
    inMs: fc.integer({ min: 1000, max: 60_000 }),
    behindMs: fc.integer({ min: -100_000, max: 100_000 }),
  });
  const check = fc.property(times, (drawn) => {
    const { outcome } = judged(forcedOf(drawn));
    if (drawn.killMs > drawn.inMs + 100) expect(outcome).toBe('overlapped');
    if (drawn.killMs < drawn.inMs) expect(outcome).toBe('ended-first');
  });
  fc.assert(check, { numRuns: 60 });
});

test('a next pod that never has the volume: why, and whether the first one wrote on', () => {
  const said = 'Waiting for detach for volume "x" Volume is already used by pod(s) a';
  const { events = [] } = nextOut('FailedAttachVolume', said);
  const own = { events: events.map((event) => ({ ...event, pod: 'force-deleted-1-b' })) };
  expect(judged(forcedOf({ inMs: Infinity }, own))).toMatchObject({
    ...{ outcome: 'next-out', told: said, next: { was: 'barred' } },
    why: `last heard of 2.0 s after the delete; the next pod was barred: ${said}`,
  });
  const on = forcedOf({ inMs: Infinity, killMs: Infinity });
  expect(judged(on).outcome).toBe('wrote-on');
});

describe('undecided, with the reason', () => {
  const { writerJournal: journal, nextJournal } = forcedOf();
  test.each<[string, Partial<TrialRecord>]>([
    ['TRIAL_TIMED_OUT: x', { ended: 'TRIAL_TIMED_OUT: x' }],
    ['the pod was not deleted', { deleteAnsweredMs: undefined as never }],
    ['the API had the pod to the end of the watch', { writer: { node: 'a', createdMs: 0 } }],
    ['the writer failed: ENOSPC', { writerJournal: { ...journal, failed: 'ENOSPC' } }],
    ['2 lines of the writer are missing', { writerJournal: { ...journal, gaps: 2 } }],
    ["the clock of the writer's node is not known", { clockErrorMs: undefined as never }],
    [
      'only 5 writes were acknowledged before the delete',
      { writerJournal: { ...journal, writes: renumbered(journal.writes.slice(95)) } },
    ],
    [
      'the writer was silent when its pod was deleted',
      { writerJournal: { ...journal, writes: journal.writes.slice(0, 30) } },
    ],
    [
      'the next pod has read the disk 1 times: two tell',
      { nextJournal: { ...nextJournal, scans: nextJournal.scans.slice(0, 1) } },
    ],
    ['2 lines of the next pod are missing', { nextJournal: { ...nextJournal, gaps: 2 } }],
    [
      'the next pod could not read the disk at first: EIO',
      { nextJournal: { ...nextJournal, blind: [{ atMs: 0, error: 'EIO' }] } },
    ],
  ])('%s', (why, change) => {
    expect(judged(forcedOf({}, change))).toMatchObject({ outcome: 'undecided', why });
  });
});

test('a write that was acknowledged and is not on the disk is told', () => {
  const { nextJournal } = forcedOf();
  const scans = nextJournal.scans.map((scan) => ({ ...scan, ranges: [[0, 99]] as const }));
  const record = forcedOf({}, { nextJournal: { ...nextJournal, scans } });
  expect(judged(record)).toMatchObject({ lostAcks: 41, reachedAfter: 0 });
  expect(measureForced([record], trialPlan).notes).toEqual([
    expect.stringContaining('41 acknowledged writes were not found on the disk'),
  ]);
});

test('a row of its own, with n and percentiles; nothing of it is in the answer', () => {
  const fenced = [trialOf({ cutMs: 150 }), trialOf({ cutMs: 200 })];
  const forced = [forcedOf(), forcedOf({ killMs: 3000 }), forcedOf({ killMs: 30_000 })];
  const alone = judgeTrials(fenced, trialPlan);
  expect(alone).not.toHaveProperty('forceDeleted');
  const { forceDeleted, ...rest } = judgeTrials([...forced, ...fenced], trialPlan);
  expect(rest).toEqual(alone);
  expect(judgeTrials([forcedOf()], trialPlan).answer.modes).toEqual([]);
  expect(rest.answer.mode).toBe('fenced');
  expect(forceDeleted).toMatchObject({
    counts: { 'ended-first': 2, overlapped: 1 },
    next: { in: 3 },
    notes: [expect.stringMatching(/^force-deleted-1: overlapped: both pods/)],
  });
  expect(forceDeleted?.figures).toContainEqual({
    ...{ what: 'delete by force to the last write of its writer', n: 3 },
    ...{ leastMs: 2001, p50Ms: 3001, p90Ms: 30_001, mostMs: 30_001 },
  });
});

test('the words say what it shows, and what it does not', () => {
  const trials = [trialOf({ cutMs: 150 }), forcedOf({ killMs: 30_000 })];
  const certificate = {
    ...{ ...judgeTrials(trials, trialPlan), trials, planHash: 'x', kubernetes: 'v1' },
    driver: { name: 'd' },
    ...{ storageClass: { name: 'fast' }, plan: { list: [], horizonMs: 1, volumeMode: 'Block' } },
  } as unknown as Certificate;
  const text = measuredText(certificate);
  expect(text).toContain('Force-deleted pods: overlapped 1; next pod: in 1');
  expect(text).toContain(forcedMeaning);
  expect(text).toMatch(/delete by force to the last write of its writer: p50 30001 ms.*n = 1/);
  expect(text).toContain('note: force-deleted-1: overlapped: both pods had the volume');
  const { forceDeleted: _, ...without } = certificate;
  expect(measuredText(without)).not.toContain('deleted by force');
});
