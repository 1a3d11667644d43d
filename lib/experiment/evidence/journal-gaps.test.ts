/** Segments that lack something, one by one. */
import { expect, test } from 'vitest';
import type { SegmentCounts, SegmentsRecord } from '../../history/events.ts';
import type { SmallRecord } from '../../history/reader.ts';
import type { SegmentSeal } from '../../history/segment-reader.ts';
import { clientsWithGaps, journalGaps } from './journal-gaps.ts';

const counts: SegmentCounts = { records: 20, small: 2, frames: 3, chain: 'aa' };
const whole: SegmentSeal = { counts, end: counts, brokenAt: undefined };

const listed: SegmentsRecord = {
  type: 'segments',
  t: 9,
  segments: { 'writer-inside': counts },
  files: {},
};

/** `records`: what the run says of its segments. */
function gapsIn(
  seals: Readonly<Record<string, SegmentSeal>>,
  records: readonly SmallRecord[] = [listed],
  { hasEnds = true, files = {} }: { hasEnds?: boolean; files?: Record<string, number> } = {},
): string[] {
  const all = new Map(Object.entries({ run: whole, ...seals }));
  return journalGaps({ tells: { ends: hasEnds }, records }, { seals: all, files }).map(
    ({ reason }) => reason,
  );
}

const gapsOf = (seal: Partial<SegmentSeal>): string[] =>
  gapsIn({ 'writer-inside': { ...whole, ...seal } });

test('a whole segment has no gap', () => {
  expect(gapsOf({})).toEqual([]);
});

test('one without an end may have had more', () => {
  expect(gapsOf({ end: undefined })).toEqual([
    'history segment writer-inside was never ended: after its 20 records there may have been more',
  ]);
});

test('a frame that does not belong there is named', () => {
  expect(gapsOf({ brokenAt: 1 })).toEqual([
    'history segment writer-inside was altered: its frame 1 is not the one that was written there',
  ]);
});

test.each([{ records: 19 }, { small: 1 }, { frames: 2 }, { chain: 'bb' }])(
  'other counts than its end and its writer say: %j',
  (other) => {
    expect(gapsOf({ counts: { ...counts, ...other } })).toEqual([
      expect.stringContaining('and its end says 20 records'),
      expect.stringContaining('and its writer reported 20 records'),
    ]);
  },
);

test('one that was ended anew with less differs from what its writer told the run', () => {
  const fewer = { ...counts, records: 10, chain: 'cc' };
  expect(gapsOf({ counts: fewer, end: fewer })).toEqual([
    'history segment writer-inside holds 10 records (2 of them small) in 3 frames with chain cc, ' +
      'and its writer reported 20 records (2 of them small) in 3 frames with chain aa',
  ]);
});

test('a segment that is missing, and one that nobody listed', () => {
  expect(gapsIn({})).toEqual([
    'history segment writer-inside is missing: ' +
      'its writer reported 20 records (2 of them small) in 3 frames with chain aa',
  ]);
  expect(gapsIn({ 'writer-inside': whole, 'writer-outside': whole })).toEqual([
    'history segment writer-outside is not one that the run listed',
  ]);
});

test('a run that never came to list its segments', () => {
  expect(gapsIn({ 'writer-inside': whole }, [])).toEqual([
    'history segment run ends before the run listed what else there is',
  ]);
});

test('version 1 has neither ends nor chains nor a list', () => {
  const bare = { counts, end: undefined, brokenAt: 0 };
  expect(gapsIn({ 'writer-inside': bare }, [], { hasEnds: false })).toEqual([]);
});

test('a gap or a cut of its journal puts a client in doubt, one elsewhere does not', () => {
  const gap = (segment: string) => ({ segment, reason: '' });
  const cut = { segment: 'writer-outside', within: 'line' } as const;
  expect([...clientsWithGaps([gap('writer-inside'), gap('run')], { cuts: [] })]).toEqual([
    'inside',
  ]);
  expect([...clientsWithGaps([gap('reads-inside')], { cuts: [cut] })]).toEqual(['outside']);
});

test('another file that is missing, shorter, or as the run left it', () => {
  const records = [{ ...listed, files: { 'writes.log.zst': 500 } }];
  const found = (files: Record<string, number>): string[] =>
    gapsIn({ 'writer-inside': whole }, records, { files });
  expect(found({})).toEqual(['history file writes.log.zst is missing: the run reported 500 bytes']);
  expect(found({ 'writes.log.zst': 400 })).toEqual([
    'history file writes.log.zst has 400 bytes: the run reported 500 bytes',
  ]);
  expect(found({ 'writes.log.zst': 500 })).toEqual([]);
});
