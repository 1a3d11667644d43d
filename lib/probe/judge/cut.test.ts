/** What a cut showed of a volume, by made-up records of each kind; the real ones are in cut.blind.test.ts. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CutOutcome, classifyCut, modesOf } from './cut.ts';
import { type CutRecord, type CutVolume, emptyJournal } from './record.ts';
import {
  type CutKind as Kind,
  cutRecord as cut,
  cutVolume as volume,
  cutWrites,
} from '../../../test/support/cut-volume.ts';

const refusal = (message: string): Partial<CutVolume> => ({
  events: [{ reason: 'FailedMount', pod: 'cut-1-b', atMs: 200_000, message }],
});

test.each<[CutOutcome, Kind, Partial<CutVolume>?]>([
  ['both-wrote', { goneMs: 180_000, inMs: 185_000 }],
  ['cut-at-detach', { goneMs: 180_000, inMs: 185_000, lastMs: 180_100 }],
  // Of an end that was seen late nobody knows whether the last write came before it.
  [
    'cut-near-detach',
    { goneMs: 180_000, inMs: 185_000, lastMs: 178_500 },
    { thereUntilMs: 171_500, attachments: [] },
  ],
  ['cut-before-next', { goneMs: 180_000, inMs: 185_000, lastMs: 181_000 }],
  ['cut-before-next', { goneMs: 180_000, inMs: 185_000, lastMs: 184_000 }],
  ['late-cut', { goneMs: 180_000, inMs: 185_000, lastMs: 190_000 }],
  [
    'next-refused',
    { goneMs: 180_000, inMs: 430_000 },
    refusal('MountVolume.MountDevice failed: in use'),
  ],
  ['not-detached', { inMs: 430_000 }],
  // The node was back by then, and let go of it.
  [
    'not-detached',
    { goneMs: 405_000, inMs: 430_000 },
    refusal('AttachVolume.Attach failed: attached to a'),
  ],
  ['path-cut', { goneMs: 180_000, inMs: 185_000, lastMs: 101_000 }],
  ['undecided', { goneMs: 180_000, lastMs: 180_100 }],
])('%s: %o', (outcome, kind, more) => {
  expect(classifyCut(cut, volume(kind, more), 'force-delete').outcome).toBe(outcome);
});

test.each<[string, object, object]>([
  ['nobody saw the node cut off', { cutMs: undefined }, {}],
  ['nobody saw the node healed', { healedMs: undefined }, {}],
  ['the writer’s journal was not found', {}, { writerJournal: emptyJournal }],
  [
    '3 lines of the writer are missing',
    {},
    { writerJournal: { ...emptyJournal, writes: cutWrites(), gaps: 3 } },
  ],
  ["the clock of the writer's node is not known", {}, { clockErrorMs: undefined }],
  [
    'the writer ended by itself before the heal',
    {},
    {
      writerJournal: { ...emptyJournal, writes: cutWrites({ lastMs: 300_000 }), endedMs: 300_000 },
    },
  ],
  ['waited 240 s in vain', {}, { ended: 'waited 240 s in vain' }],
])('undecided: %s', (why, record, more) => {
  const seen = { ...volume({ goneMs: 180_000, inMs: 185_000 }), ...more } as CutVolume;
  expect(classifyCut({ ...cut, ...record }, seen, 'force-delete')).toMatchObject({
    ...{ outcome: 'undecided', why, modes: [] },
  });
});

describe('the last write came before its detach was seen to be asked for', () => {
  const asked = (unaskedMs: number | undefined, deletingMs: number | undefined) => ({
    attachments: [
      {
        ...{ uid: 'u', firstSeenMs: 80_000, lastSeenMs: deletingMs ?? unaskedMs ?? 180_000 },
        ...(unaskedMs === undefined ? {} : { unaskedMs }),
        ...(deletingMs === undefined ? {} : { deletingMs }),
      },
    ],
  });
  const judged = (lastMs: number, seen: ReturnType<typeof asked>, goneMs = 182_000) =>
    classifyCut(cut, volume({ goneMs, inMs: goneMs + 3000, lastMs }, seen), 'force-delete');

  test('and looks came near: its path was cut', () => {
    expect(judged(170_000, asked(179_500, 180_000)).outcome).toBe('path-cut');
  });

  test('and nobody looked for long: which came first is not known', () => {
    expect(judged(170_000, asked(165_000, 180_000))).toMatchObject({
      ...{ outcome: 'undecided', modes: [] },
      why: 'the last write was acknowledged 70.0 s after the cut, and nobody looked at its attachment in the 15.0 s in which its detach was asked for: which came first is not known',
    });
  });

  test('of an older record, which does not say when somebody looked: only before the remedy', () => {
    expect(judged(101_000, asked(undefined, 180_000)).outcome).toBe('path-cut');
    expect(judged(170_000, asked(undefined, 180_000)).outcome).toBe('undecided');
  });

  test('whose attachment nobody looked at any more: not known either', () => {
    const seen = volume({ lastMs: 170_000 }, asked(130_000, undefined));
    expect(classifyCut(cut, seen, 'force-delete')).toMatchObject({
      ...{ outcome: 'undecided', why: expect.stringContaining('nobody looked') },
    });
  });

  test('whenever looks come, it is told only of a path that was cut before anybody asked', () => {
    const times = fc.record({
      askedMs: fc.integer({ min: 121_000, max: 300_000 }),
      // Of the looks before and after that.
      beforeMs: fc.integer({ min: 1, max: 60_000 }),
      afterMs: fc.integer({ min: 0, max: 60_000 }),
      lastMs: fc.integer({ min: 101_000, max: 390_000 }),
    });
    fc.assert(
      fc.property(times, ({ askedMs, beforeMs, afterMs, lastMs }) => {
        const seen = asked(askedMs - beforeMs, askedMs + afterMs);
        const { outcome, modes } = judged(lastMs, seen, askedMs + afterMs + 1000);
        if (lastMs >= askedMs) expect(outcome).not.toBe('path-cut');
        if (outcome === 'path-cut') expect(modes).toEqual([]);
        const isNear = beforeMs + afterMs <= 500;
        if (isNear && lastMs < askedMs - 4000) expect(outcome).toBe('path-cut');
      }),
      { numRuns: 100 },
    );
  });
});

describe('a detach that nobody asked for before the heal', () => {
  const unasked = {
    attachments: [{ uid: 'u', firstSeenMs: 80_000, lastSeenMs: 409_000, unaskedMs: 409_000 }],
  };
  const there = { writer: { node: 'a', createdMs: 0, goneMs: 405_000 } };
  const gone = { writer: { node: 'a', createdMs: 0, goneMs: 120_000 } };

  test.each([
    ['the heal came too early', gone],
    ['the API had its pod to the heal', there],
  ])('names no mode: %s', (why, writer) => {
    const seen = volume({ inMs: 430_000 }, { ...unasked, ...writer });
    expect(classifyCut(cut, seen, 'force-delete')).toMatchObject({
      ...{ outcome: 'undecided', modes: [] },
      why: `nobody asked for its detach: ${why} (--heal-after)`,
    });
  });
});

const attached = (attachedMs: number) => ({
  nextAttachment: { uid: 'v', firstSeenMs: attachedMs, lastSeenMs: attachedMs, attachedMs },
});
const stays = { readBack: 'waited 480 s in vain' };
const books = { firstSeenMs: 80_000, deletingMs: 180_000, detachError: 'did not detach' };

test.each<[string, Kind, Partial<CutVolume>, RegExp]>([
  ['was not asked to the end', {}, {}, /nobody waited.*not-detached/],
  ['never answers a detach', {}, stays, /nobody else could have it.*not-detached: the attach/],
  [
    'answers, and still takes it for the first node’s',
    { goneMs: 180_000 },
    { ...refusal('MountVolume.MountDevice failed: in use'), ...stays },
    /nobody else could have it.*next-refused/,
  ],
  [
    'cuts, and answers an error',
    { lastMs: 180_000 },
    { ...stays, attachments: [{ uid: 'u', lastSeenMs: 399_000, ...books }] },
    /it was cut off.*said of the detach: did not detach/,
  ],
  [
    'detaches in its books, and answers an error',
    { inMs: 185_000 },
    { ...attached(183_000), attachments: [{ uid: 'u', lastSeenMs: 399_000, ...books }] },
    /before its detach from the first one had ended.*both-wrote/,
  ],
])('a driver that %s is of no mode', (_, kind, more, why) => {
  expect(classifyCut(cut, volume(kind, more), 'force-delete')).toMatchObject({
    ...{ outcome: 'undecided', why: expect.stringMatching(why), modes: [] },
  });
});

test('of a path that was cut off nothing is told, whatever came after it', () => {
  const seen = volume({ goneMs: 180_000, lastMs: 101_000 }, stays);
  expect(classifyCut(cut, seen, 'force-delete').outcome).toBe('path-cut');
});

test('the taint tells a fence that waits for it from none', () => {
  const cutOff = volume({ goneMs: 122_000, inMs: 125_000, lastMs: 121_900 });
  const wrote = volume({ goneMs: 180_000, inMs: 185_000 });
  const both = [
    classifyCut(cut, wrote, 'force-delete'),
    classifyCut(cut, cutOff, 'out-of-service'),
  ];
  expect(modesOf(both)).toEqual(['fence-if-out-of-service']);
  expect(modesOf([])).toBeUndefined();
});

describe('a node that was not cut off all the time', () => {
  const kind = { goneMs: 180_000, inMs: 185_000, lastMs: 180_100 };
  const outcomeWith = (looks: CutRecord['looks']) =>
    classifyCut({ ...cut, looks }, volume(kind), 'force-delete');
  const down = { word: 'down', atMs: 100_000 } as const;
  const up = (atMs: number) => ({ word: 'up', atMs }) as const;

  test('is undecided: nothing follows from a node that is reached', () => {
    const back = outcomeWith([down, up(150_000), { word: 'down', atMs: 160_000 }, up(400_000)]);
    expect(back).toMatchObject({ outcome: 'undecided', modes: [] });
    expect(back.why).toContain('reached 50.0 s after the cut');
    expect(outcomeWith([up(90_000)]).outcome).toBe('undecided');
    expect(outcomeWith([]).outcome).toBe('undecided');
  });

  test('the look that sees the heal may come a little before it', () => {
    expect(outcomeWith([down, up(398_000)]).outcome).toBe('cut-at-detach');
  });

  test('a next pod on the node that is cut off is undecided', () => {
    const writer = { node: 'b', createdMs: 90_000 };
    expect(classifyCut(cut, volume(kind, { writer }), 'force-delete').outcome).toBe('undecided');
  });

  test('errors of the machine are no cut', () => {
    const full = volume(kind);
    const writes = full.writerJournal.writes.map((write) =>
      write.error === undefined ? write : { ...write, error: 'ENOSPC' },
    );
    const writerJournal = { ...full.writerJournal, writes };
    expect(classifyCut(cut, { ...full, writerJournal }, 'force-delete').outcome).toBe('undecided');
  });
});
