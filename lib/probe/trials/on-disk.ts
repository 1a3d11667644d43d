/** Which acknowledged writes the next node must have found on the disk, by its last scan. */
import { answeredMs, type Write } from './journal.ts';
import type { TrialRecord } from './record.ts';

/** A whole scan comes each 10 s, and what is younger may be in none. */
const scannedMs = 12_000;

/** Acknowledged long enough before the last scan to be in it. */
export function settled(record: TrialRecord, acks: readonly Write[]): readonly Write[] {
  const last = record.nextJournal.scans.at(-1);
  const atMs = (last?.atMs ?? 0) + (record.nextClockOffsetMs ?? 0);
  return acks.filter((write) => answeredMs(write) < atMs - scannedMs);
}

export const isIn = (ranges: readonly (readonly [number, number])[], seq: number): boolean =>
  ranges.some(([from, to]) => from <= seq && seq <= to);
