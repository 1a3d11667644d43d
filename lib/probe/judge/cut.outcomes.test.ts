/** That a cut's answer claims no more than was heard of both pods, and found on the disk by the next one. */
import { describe, expect, test } from 'vitest';
import { classifyCut } from './cut.ts';
import { type CutRecord, type CutVolume, emptyJournal } from './record.ts';
import {
  type CutKind,
  cutRecord as cut,
  cutVolume,
  cutWrites,
  nextJournalOf,
} from '../../../test/support/cut-volume.ts';

const judged = (kind: CutKind, more: Partial<CutVolume> = {}, record: CutRecord = cut) =>
  classifyCut(record, cutVolume(kind, more), 'force-delete');
const asIn = { goneMs: 180_000, inMs: 185_000 };
/** The cut took its storage, and gave it back. */
const stalled = { ...asIn, lastMs: 101_000 };

describe('a next pod that has the volume, and whose writes fail', () => {
  test.each<[string, CutKind]>([
    ['the old pod writes on', asIn],
    ['the old pod is cut off before its detach is answered', { ...asIn, lastMs: 180_000 }],
    ['the old pod is cut off later', { ...asIn, lastMs: 240_000 }],
  ])('is nobody’s second writer: %s', (_, kind) => {
    expect(judged({ ...kind, nextError: 'EROFS' })).toMatchObject({
      ...{ outcome: 'undecided', modes: [], overlapAcks: 0 },
      why: 'the next pod was in, and no write of it was acknowledged (EROFS)',
    });
  });
});

describe('two writers', () => {
  test('are told by the clocks of both, and by the slots', () => {
    const { outcome, why, overlapAcks, overlapSlots } = judged(asIn);
    expect(outcome).toBe('both-wrote');
    expect([overlapAcks, overlapSlots]).toEqual([2147, 2200]);
    expect(why).toBe(
      '2147 writes were acknowledged beside the next pod’s, and 2200 came to the disk after it had read it, to the heal, 215.0 s after it was in',
    );
  });

  test('are told by the slots alone where their clocks are too far apart to tell', () => {
    const late = judged({ ...asIn, lastMs: 185_200 });
    expect(late).toMatchObject({ outcome: 'late-cut', overlapAcks: 0, modes: ['ack-early'] });
    expect(late.overlapSlots).toBeGreaterThan(0);
  });

  test('are not told by slots of which the next pod may have missed some at first', () => {
    const { nextJournal } = cutVolume({ ...asIn, lastMs: 185_200 });
    const blind = { ...nextJournal, blind: [{ atMs: 184_000, error: 'EIO' }] };
    for (const journal of [blind, { ...nextJournal, gaps: 1 }]) {
      const found = judged({ ...asIn, lastMs: 185_200 }, { nextJournal: journal });
      expect(found).toMatchObject({ outcome: 'cut-before-next', overlapSlots: 0 });
    }
  });

  test('are not named where the next pod finds nothing of what the old one was told', () => {
    const none = nextJournalOf(asIn, cutWrites({ lastMs: 184_000 }));
    const found = none.scans.map(({ atMs }) => ({ atMs, ranges: [[0, 890] as const] }));
    expect(judged(asIn, { nextJournal: { ...none, scans: found } })).toMatchObject({
      ...{ outcome: 'undecided', modes: [] },
      why: expect.stringMatching(/found none of them on the disk; both-wrote: /),
    });
  });

  test('are of no mode where the old one was told of a failure', () => {
    const kind = { ...asIn, lastMs: 180_000 };
    const failedToo = cutWrites(kind).filter(({ begunMs }) => begunMs < 186_000);
    expect(judged(kind, { nextJournal: nextJournalOf(kind, failedToo) })).toMatchObject({
      ...{ outcome: 'undecided', modes: [] },
      why: expect.stringMatching(
        /^no known mode does this: 10 writes that failed came to the disk/,
      ),
    });
  });

  test('are of no mode where the old one was still there when the next one was let in after the heal', () => {
    expect(judged({ inMs: 402_000 })).toMatchObject({
      ...{ outcome: 'undecided', modes: [] },
      why: expect.stringMatching(/was given it while the first one wrote; not-detached/),
    });
  });
});

describe('a writer that came back with its node', () => {
  const unfenced = { outcome: 'wrote-after-heal', modes: ['unfenced', 'fence-if-out-of-service'] };

  test.each<[string, CutKind]>([
    ['and wrote on', { ...stalled, after: 'nothing', backMs: 400_500 }],
    ['and wrote on after errors', { ...stalled, backMs: 400_500 }],
    // The heal is seen some looks late.
    ['and wrote on before the heal was seen', { ...stalled, after: 'nothing', backMs: 398_500 }],
    [
      'whose write was held until then, and came to the disk',
      { ...stalled, after: { heldUntilMs: 400_700 } },
    ],
  ])('%s', (_, kind) => {
    const found = judged(kind);
    expect(found).toMatchObject(unfenced);
    expect(found.why).toMatch(
      /^\d+ writes were acknowledged once the node was back, beside the next pod’s, and \d+ came to the disk after it had read it$/,
    );
    const tainted = classifyCut(cut, cutVolume(kind), 'out-of-service');
    expect(tainted.modes).toEqual(['unfenced']);
  });

  test('as the next pod alone saw, who found its writes', () => {
    const kind = { ...stalled, after: 'nothing' } as const;
    const replayed = [
      ...cutWrites(kind),
      ...[61, 62, 63].map((seq) => ({ seq, begunMs: 101_100, tookMs: 300_000 })),
    ];
    const found = judged(kind, { nextJournal: nextJournalOf(kind, replayed) });
    expect(found).toMatchObject({ ...unfenced, overlapSlots: 3, afterHealAcks: 0 });
  });

  test('and whose held write was there before the next pod looked: nothing is told', () => {
    const kind = { ...stalled, after: { heldUntilMs: 400_700 } };
    const there = cutWrites(kind).map((write) => ({ ...write, tookMs: 1 }));
    expect(judged(kind, { nextJournal: nextJournalOf(kind, there) })).toMatchObject({
      ...{ outcome: 'undecided', modes: [], afterHealAcks: 1 },
      why: '1 writes were acknowledged once the node was back; whether they came to the disk beside the next pod’s nobody saw',
    });
  });

  test('and no next pod wrote: nothing is told', () => {
    expect(judged({ lastMs: 101_000, backMs: 400_500 })).toMatchObject({
      ...{ outcome: 'undecided', modes: [] },
      why: expect.stringMatching(/and the next pod \(waited\) had written nothing/),
    });
  });

  test('of a driver that had cut it off: no known mode lets it in again', () => {
    expect(judged({ ...asIn, lastMs: 180_000, backMs: 400_500 })).toMatchObject({
      ...{ outcome: 'undecided', modes: [] },
      why: expect.stringMatching(/^no known mode does this: .* wrote-after-heal: /),
    });
  });
});

describe('a writer of which nothing is heard any more', () => {
  test.each([101_000, 180_000, 190_000])('is not cut off: silent from %i on', (lastMs) => {
    expect(judged({ ...asIn, lastMs, after: 'nothing' })).toMatchObject({
      ...{ outcome: 'undecided', modes: [] },
      why: expect.stringMatching(
        /^nothing was heard of the writer after its last write, .* after the cut: it may have hung, or be gone/,
      ),
    });
  });

  test('for a while, and then of failures: when it was cut off is not known', () => {
    const late = cutWrites({ lastMs: 180_000 }).filter(
      ({ begunMs }) => begunMs <= 180_000 || begunMs > 260_000,
    );
    const writerJournal = { ...emptyJournal, writes: late };
    expect(judged({ ...asIn, lastMs: 180_000 }, { writerJournal })).toMatchObject({
      ...{ outcome: 'undecided', modes: [] },
      why: expect.stringMatching(
        /^nothing was heard of the writer for 80.1 s after its last write/,
      ),
    });
  });

  test('is heard by one write that hung until it failed', () => {
    const [first, ...others] = cutWrites({ lastMs: 180_000 }).filter(
      ({ error }) => error !== undefined,
    );
    if (first === undefined) throw new Error('some fail');
    const hung = { ...first, tookMs: 390_000 - first.begunMs };
    const after = others.filter(({ begunMs }) => begunMs > 390_000);
    const writes = [...cutWrites({ lastMs: 180_000, after: 'nothing' }), hung, ...after];
    const writerJournal = { ...emptyJournal, writes };
    expect(judged({ ...asIn, lastMs: 180_000 }, { writerJournal }).outcome).toBe('cut-at-detach');
  });

  test.each<[string, Partial<CutVolume>]>([
    [
      'the writer failed: ENOSPC',
      { writerJournal: { ...emptyJournal, failed: 'ENOSPC', writes: cutWrites() } },
    ],
    [
      'only 10 writes were acknowledged before the cut',
      { writerJournal: { ...emptyJournal, writes: cutWrites().slice(40) } },
    ],
  ])('undecided: %s', (why, more) => {
    expect(judged(asIn, more)).toMatchObject({ outcome: 'undecided', why });
  });

  test('whose host was started anew: its writes end with it, whatever the driver did', () => {
    const boots = { armedBootId: 'one', healedBootId: 'one' };
    expect(judged(asIn, {}, { ...cut, ...boots }).outcome).toBe('both-wrote');
    const anew = judged(asIn, {}, { ...cut, ...boots, healedBootId: 'two' });
    expect(anew).toMatchObject({
      ...{ outcome: 'undecided', modes: [] },
      why: 'the node was started anew under the cut: its boot id is another one',
    });
  });
});

test('a write that was begun before the detach’s end and answered long after it is near it', () => {
  const writes = cutWrites({ lastMs: 180_000 }).map((write) =>
    write.begunMs === 180_000 ? { ...write, tookMs: 2500 } : write,
  );
  const slow = writes.filter(({ begunMs }) => begunMs <= 180_000 || begunMs > 182_500);
  const writerJournal = { ...emptyJournal, writes: slow };
  expect(judged({ ...asIn, lastMs: 180_000 }, { writerJournal })).toMatchObject({
    ...{ outcome: 'cut-near-detach', modes: ['fenced', 'reservation', 'ack-early'] },
  });
});
