/** Records of a trial as a writer and a driver of a given kind leave them, for tests of the judgement. */
import type { DetachRecord } from '../../lib/probe/judge/detach.ts';
import { type TrialRecord, type Write, emptyJournal } from '../../lib/probe/judge/record.ts';
import type { DetachVariant } from '../../lib/probe/plan.ts';

/** Unix milliseconds of the delete. */
export const deletedMs = 1_000_000;
export const horizonMs = 100_000;
export const trialPlan = { nodes: ['a', 'b'], horizonMs } as const;

export interface Kind {
  readonly variant?: DetachVariant;
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

/** Some of a writer’s writes, as if they were all. */
export const renumbered = (writes: readonly Write[]): Write[] =>
  writes.map((write, seq) => ({ ...write, seq }));

export function trialOf(
  kind: Kind = {},
  change: Partial<Omit<TrialRecord, 'variant'>> = {},
): DetachRecord {
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

export interface Forced {
  /** Milliseconds after the delete: the last write; Infinity: it writes to the end of the watch. */
  readonly killMs?: number;
  /** The next pod runs and begins to write; Infinity: never. */
  readonly inMs?: number;
  /** Of the first pod's node behind the probe's clock. */
  readonly behindMs?: number;
}

const scanEveryMs = 1000;

/** A pod that was deleted by force, and one on the next node that reads what it wrote. */
export function forcedOf(
  { killMs = 2000, inMs = 20_000, behindMs = 0 }: Forced = {},
  change: Partial<TrialRecord> = {},
): TrialRecord {
  const writes = writesOf({ behindMs }).filter(
    ({ begunMs }) => begunMs + behindMs <= deletedMs + killMs,
  );
  const scans = [];
  for (let atMs = deletedMs + inMs; atMs < deletedMs + horizonMs; atMs += scanEveryMs) {
    const youngest = writes.findLast(({ begunMs }) => begunMs + behindMs < atMs);
    const { seq = 0, begunMs: youngestMs = 0 } = youngest ?? {};
    scans.push({ atMs, ranges: [[0, seq]] as const, youngestMs });
  }
  const next = { seq: 0, begunMs: deletedMs + inMs, tookMs: 1 };
  const isIn = inMs !== Infinity;
  return {
    ...trialOf({ behindMs, goneMs: isIn ? Math.max(0, inMs - 5000) : Infinity }),
    ...{ name: 'force-deleted-1', variant: 'force-deleted', claim: 'force-deleted-1' },
    writer: { node: 'a', createdMs: deletedMs - 9000, goneMs: deletedMs + 300 },
    writerJournal: { ...emptyJournal, writes },
    ...(isIn ? nextIn(inMs) : { next: { node: 'b', createdMs: deletedMs } }),
    nextJournal: isIn
      ? { ...emptyJournal, startedMs: deletedMs + inMs, scans, writes: [next] }
      : emptyJournal,
    ...change,
  };
}
