/**
 * What the records of a volume under a cut hold of its two writers: by the clocks of both, and by the slots
 * that the next pod found, in which no clock has a part. Pure.
 */
import { answeredMs, writesBy, type Write } from '../trials/journal.ts';
import { nextOf, nextWroteMs, type PodsHeard } from '../trials/next-pod.ts';
import { settled, slotsLater, wasBlind } from '../trials/on-disk.ts';
import type { CutRecord, CutVolume } from './record.ts';

/** Writes come each 100 ms; of a writer that was silent for longer nothing is known. */
export const silentMs = 3000;
/** The heal is seen by looks from the second node: it may have come so long before. */
export const healSeenMs = 3000;

export interface Evidence extends PodsHeard {
  /** The next pod's first acknowledged write; Infinity: none. */
  readonly nextWroteMs: number;
  /** The node was still away. */
  readonly awayUntilMs: number;
  /** Acknowledged writes of the old pod, begun after the next pod's first was acknowledged, whatever the clocks' errors. */
  readonly besideAcks: readonly Write[];
  /** Slots of the old pod's writes that came to the disk after the next pod had read their places. */
  readonly besideSlots: readonly number[];
  /** Those of them that the next pod found no sooner than the node was back. */
  readonly lateSlots: readonly number[];
  /** Writes beside the next pod's that it must have found, and it found nothing. */
  readonly isUnseen: boolean;
}

export function evidenceOf({ healedMs = Infinity }: CutRecord, volume: CutVolume): Evidence {
  const { writerJournal, nextJournal, clockOffsetMs, clockErrorMs = 0 } = volume;
  const writes = writesBy(writerJournal, clockOffsetMs);
  const acks = writes.filter(({ error }) => error === undefined);
  const fromMs = nextWroteMs(volume);
  const awayUntilMs = healedMs - healSeenMs;
  const besideAcks = acks.filter(({ begunMs }) => begunMs > fromMs + clockErrorMs);
  const besideSlots = slotsLater(volume);
  const { scans, isDirect, gaps } = nextJournal;
  const reads = isDirect === true && scans.length > 1 && gaps === 0 && !wasBlind(nextJournal);
  return {
    ...{ writes, acks, next: nextOf(volume), nextWroteMs: fromMs, awayUntilMs },
    ...{ besideAcks, besideSlots, lateSlots: slotsLater(volume, awayUntilMs) },
    isUnseen: reads && besideSlots.length === 0 && settled(volume, besideAcks).length > 0,
  };
}

/** Acknowledged beside the next pod's while the node was away, and once it was back. */
export const overlapOf = ({ besideAcks }: Evidence, healedMs = Infinity): number =>
  besideAcks.filter((write) => answeredMs(write) < healedMs).length;

/** Between these two its detach was asked for: the last look that found it unasked, and the first that did not. */
export function unaskedOf({ attachments: [old], deleteAskedMs = 0 }: CutVolume): number {
  // Older records have the remedy alone, before which nobody asks.
  const seenMs = old?.deletingMs === undefined ? old?.lastSeenMs : undefined;
  return old?.unaskedMs ?? seenMs ?? deleteAskedMs;
}
export const askedOf = ({ attachments: [old], thereUntilMs = Infinity }: CutVolume): number =>
  old?.deletingMs ?? thereUntilMs;
