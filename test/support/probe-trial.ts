/** Records of a trial as a writer and a driver of a given kind leave them, for tests of the judgement. */
import { emptyJournal, type Write } from '../../lib/probe/trials/journal.ts';
import type { TrialRecord } from '../../lib/probe/trials/record.ts';

/** Unix milliseconds of the delete. */
export const deletedMs = 1_000_000;
export const horizonMs = 100_000;

export interface Kind {
  readonly variant?: TrialRecord['variant'];
  /** Milliseconds after the delete; Infinity: never. */
  readonly goneMs?: number;
  readonly cutMs?: number;
  /** After a cut: gets through again from then on. */
  readonly backMs?: number;
  /** The node's clock is so much behind the probe's. */
  readonly behindMs?: number;
}

const everyMs = 50;

export function writesOf({ cutMs = Infinity, backMs = Infinity, behindMs = 0 }: Kind): Write[] {
  const writes: Write[] = [];
  for (let atMs = -5000; atMs < horizonMs; atMs += everyMs) {
    const isCut = atMs >= cutMs && atMs < backMs;
    writes.push({
      ...{ seq: writes.length, begunMs: deletedMs + atMs - behindMs, tookMs: 1 },
      ...(isCut ? { error: 'EIO' } : {}),
    });
  }
  return writes;
}

export function trialOf(kind: Kind = {}, change: Partial<TrialRecord> = {}): TrialRecord {
  const { variant = 'kept', goneMs = 250, behindMs = 0 } = kind;
  const end =
    goneMs === Infinity
      ? {}
      : { thereUntilMs: deletedMs + goneMs - 100, goneMs: deletedMs + goneMs };
  return {
    ...{ name: `${variant}-1`, variant, claim: `${variant}-1` },
    ...{ deleteAskedMs: deletedMs, deleteAnsweredMs: deletedMs + 5, ...end },
    watchEndedMs: deletedMs + horizonMs,
    attachments: [{ uid: 'u1', firstSeenMs: deletedMs - 9000, lastSeenMs: deletedMs }],
    events: [],
    ...{ clockOffsetMs: behindMs, clockErrorMs: 250 },
    writerJournal: { ...emptyJournal, writes: writesOf(kind) },
    nextJournal: emptyJournal,
    ...change,
  };
}

/** A next pod that runs from `inMs` after the delete, its node attached two seconds before. */
export const nextIn = (inMs: number): Partial<TrialRecord> => ({
  next: { node: 'b', createdMs: deletedMs, runningMs: deletedMs + inMs },
  nextAttachment: {
    ...{ uid: 'u2', firstSeenMs: deletedMs + inMs - 2500, lastSeenMs: deletedMs + inMs },
    ...{ waitedMs: deletedMs + inMs - 2500, attachedMs: deletedMs + inMs - 2000 },
  },
});

/** One that never runs, and what was said of it. */
export const nextOut = (reason: string, message: string): Partial<TrialRecord> => ({
  next: { node: 'b', createdMs: deletedMs },
  events: [{ reason, message, pod: 'contested-1-b', atMs: deletedMs + 70_000 }],
});
