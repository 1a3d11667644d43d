/** Segments that lack something, one by one. */
import { expect, test } from 'vitest';
import type { SegmentCounts } from '../history/frame.ts';
import type { SegmentSeal } from '../history/segment-reader.ts';
import { journalGaps } from './journal-gaps.ts';

const counts: SegmentCounts = { records: 20, small: 2, frames: 3, chain: 'aa' };
const whole: SegmentSeal = { counts, end: counts, brokenAt: undefined };

const gapsOf = (seal: Partial<SegmentSeal>, hasEnds = true): string[] =>
  journalGaps({ hasEnds }, { seals: new Map([['writer-inside', { ...whole, ...seal }]]) }).map(
    ({ reason }) => reason,
  );

test('a whole segment has no gap', () => {
  expect(gapsOf({})).toEqual([]);
});

test('one without an end may have had more', () => {
  expect(gapsOf({ end: undefined })).toEqual([
    'history segment writer-inside was never ended: after its 20 records (2 of them small) ' +
      'in 3 frames with chain aa there may have been more',
  ]);
});

test('a frame that does not belong there is named', () => {
  expect(gapsOf({ brokenAt: 1 })).toEqual([
    'history segment writer-inside was altered: its frame 1 is not the one that was written there',
  ]);
});

test.each([{ records: 19 }, { small: 1 }, { frames: 2 }, { chain: 'bb' }])(
  'other counts than its end says: %j',
  (other) => {
    const gaps = gapsOf({ counts: { ...counts, ...other } });
    expect(gaps).toHaveLength(1);
    expect(gaps[0]).toContain('and its end says 20 records');
  },
);

test('version 1 has neither ends nor chains', () => {
  expect(gapsOf({ end: undefined, brokenAt: 0 }, false)).toEqual([]);
});
