/**
 * Whether a cut took a volume's storage path with it. Of a writer that could not write nobody knows who fenced
 * it, so a certificate says on which of the two its answer rests. Pure.
 */
import { writesBy } from '../trials/journal.ts';
import { askedOf, silentMs, unaskedOf } from './evidence.ts';
import type { CutRecord, CutVolume } from './record.ts';

export const storagePaths = [
  /** Its writes were acknowledged until its detach was asked for, or to the heal. */
  'survived',
  /** They failed before anybody had asked for that. */
  'cut',
  /** The records do not tell. */
  'unknown',
] as const;
export type StoragePath = (typeof storagePaths)[number];

/** Path of a class: that of its first volume under the cut. */
export function storagePathOf(cut: CutRecord, storageClass: string): StoragePath {
  const volume = cut.volumes.find((each) => each.storageClass === storageClass);
  return volume === undefined ? 'unknown' : ofVolume(cut, volume);
}

function ofVolume({ cutMs, healedMs }: CutRecord, volume: CutVolume): StoragePath {
  const { writerJournal: journal, clockErrorMs, clockOffsetMs } = volume;
  const isBlind = journal.writes.length === 0 || journal.gaps > 0 || clockErrorMs === undefined;
  if (cutMs === undefined || healedMs === undefined || isBlind) return 'unknown';
  const writes = writesBy(journal, clockOffsetMs);
  const last = writes.findLastIndex(
    ({ error, begunMs }) => error === undefined && begunMs < healedMs,
  );
  const lastMs = writes[last]?.begunMs ?? 0;
  if (lastMs >= Math.min(askedOf(volume), healedMs) - silentMs) return 'survived';
  // A writer of which nothing more is heard may hang, or be gone.
  const isHeard = (writes[last + 1]?.begunMs ?? Infinity) <= lastMs + silentMs;
  return isHeard && lastMs < Math.min(unaskedOf(volume), healedMs) - silentMs ? 'cut' : 'unknown';
}
