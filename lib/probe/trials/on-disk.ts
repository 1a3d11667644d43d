/** What the next pod found on the disk of the first one's writes, and which ones it must have found. */
import { answeredMs, type PodJournal, type Write } from './journal.ts';
import type { TrialRecord } from './record.ts';

/** A whole scan comes each 10 s, and what is younger may be in none. */
const scannedMs = 12_000;

/** Acknowledged long enough before the last scan to be in it. */
export function settled(record: TrialRecord, acks: readonly Write[]): readonly Write[] {
  const last = record.nextJournal.scans.at(-1);
  const atMs = (last?.atMs ?? 0) + (record.nextClockOffsetMs ?? 0);
  return acks.filter((write) => answeredMs(write) < atMs - scannedMs);
}

export type SeqRanges = readonly (readonly [number, number])[];

export const isInRanges = (ranges: SeqRanges, seq: number): boolean =>
  ranges.some(([from, to]) => from <= seq && seq <= to);

export const seqsOf = (ranges: SeqRanges): number[] =>
  ranges.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, index) => from + index));

/** After a read that failed the first scan is not of the whole. */
export const wasBlind = ({ scans: [first], blind }: PodJournal): boolean =>
  first !== undefined && blind.some(({ atMs }) => atMs < first.atMs);

/**
 * Writes that the last scan found in places that an earlier one had found empty: the last before `sinceMs`
 * of the probe's clock, else the first, made before the next pod wrote. None where what the first one saw
 * is not known.
 */
export function slotsLater(record: TrialRecord, sinceMs = -Infinity): number[] {
  const { nextJournal, nextClockOffsetMs = 0 } = record;
  const { scans, gaps } = nextJournal;
  const before = scans.findLast(({ atMs }) => atMs + nextClockOffsetMs < sinceMs) ?? scans[0];
  const last = scans.at(-1);
  if (before === undefined || last === undefined || gaps > 0 || wasBlind(nextJournal)) return [];
  return seqsOf(last.ranges).filter((seq) => !isInRanges(before.ranges, seq));
}
