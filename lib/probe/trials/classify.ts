/**
 * From what a trial left to what it shows, by rules alone: pure. Where the records don't tell, the
 * outcome is `undecided` with the reason, never a guess.
 */
import { toldInSeconds } from '../../durations.ts';
import type { DetachVariant } from '../trial-plan.ts';
import { answeredMs, writesBy, type Write } from './journal.ts';
import {
  type HandOverFinding,
  handOverOf,
  type NextFinding,
  nextOf,
  type PodsHeard,
} from './next-pod.ts';
import { isInRanges, settled } from './on-disk.ts';
import type { TrialRecord } from './record.ts';
import { heardBefore, silentMs, steadyMs, steadyWrites, unreadable } from './steady.ts';

export const detachOutcomes = [
  /** The writer was cut off before the detach was answered. */
  'cut',
  /** It was cut off, but only after the detach was answered. */
  'late-cut',
  /** It was cut off once the next pod had the volume staged. */
  'cut-by-next',
  /** It was cut off, and the detach was never answered. */
  'cut-unanswered',
  /** It wrote on to the end of the watch, and the detach was answered. */
  'not-cut',
  /** It wrote on, and the detach was refused or hung to the end of the watch. */
  'pending',
  'undecided',
] as const;
export type DetachOutcome = (typeof detachOutcomes)[number];

export interface TrialFinding extends HandOverFinding {
  readonly name: string;
  readonly variant: DetachVariant;
  readonly outcome: DetachOutcome;
  /** One sentence. */
  readonly why: string;
  /** From the delete to the attachment's end: at most so long. */
  readonly answerMs?: number;
  /** From the delete to the last write that was acknowledged, of a writer that was cut off. */
  readonly lastAckMs?: number;
  readonly firstErrorMs?: number;
  /** What the writer was told. */
  readonly error?: string;
  /** From the detach's answer to the last acknowledged write: at least so long. */
  readonly tailMs?: number;
  /** How long after the answer the last write can have been acknowledged: since the attachment was last seen. */
  readonly tailAtMostMs?: number;
  /** Writes that were begun after the detach's answer, and acknowledged. */
  readonly ackedAfterAnswer?: number;
  /** Writes that were begun after the detach's answer and that the next pod found, also unacknowledged ones. */
  readonly reachedAfterAnswer?: number;
  /** From the delete to the next attachment of the same node. */
  readonly reattachedMs?: number;
  /** Acknowledged, and not on the disk when the next pod read it. */
  readonly lostAcks?: number;
  /** The driver's words about the detach. */
  readonly detachError?: string;
  readonly next: NextFinding;
}

/** Record of a trial that took an attachment away. */
export type DetachRecord = TrialRecord & { readonly variant: DetachVariant };

/** `horizonMs`: of the plan; a shorter watch proves nothing. Default: the watch is taken as it is. */
export function classify(record: DetachRecord, horizonMs = 0): TrialFinding {
  const facts = factsOf(record);
  const [outcome, why] = judge(record, facts, horizonMs);
  return { name: record.name, variant: record.variant, outcome, why, ...numbersOf(record, facts) };
}

interface TrialFacts extends PodsHeard {
  readonly afterDelete: readonly Write[];
  readonly lastAck: Write | undefined;
  readonly firstError: Write | undefined;
}

function factsOf(record: TrialRecord): TrialFacts {
  const { deleteAskedMs = Infinity, watchEndedMs = Infinity, clockOffsetMs } = record;
  const writes = writesBy(record.writerJournal, clockOffsetMs).filter(
    ({ begunMs }) => begunMs <= watchEndedMs,
  );
  const acks = writes.filter(({ error }) => error === undefined);
  const afterDelete = writes.filter((write) => answeredMs(write) >= deleteAskedMs);
  return {
    ...{ writes, acks, afterDelete, lastAck: acks.at(-1), next: nextOf(record) },
    firstError: afterDelete.find(({ error }) => error !== undefined),
  };
}

/** A timer can end so much before its time. */
const timerErrorMs = 100;

type JudgedDetach = readonly [DetachOutcome, string];
const undecided = (why: string): JudgedDetach => ['undecided', why];

function judge(record: TrialRecord, facts: TrialFacts, horizonMs: number): JudgedDetach {
  const { deleteAskedMs, watchEndedMs, clockErrorMs = 0, writerJournal: journal } = record;
  if (record.ended !== undefined) return undecided(record.ended);
  if (deleteAskedMs === undefined || watchEndedMs === undefined) {
    return undecided('the attachment was not deleted');
  }
  const watchedMs = watchEndedMs - deleteAskedMs;
  if (watchedMs < horizonMs - timerErrorMs) {
    return undecided(`the watch lasted ${toldInSeconds(watchedMs)} of ${toldInSeconds(horizonMs)}`);
  }
  const why = unreadable(record);
  if (why !== undefined) return undecided(why);
  const before = heardBefore(facts.acks, deleteAskedMs);
  if (before.writes < steadyWrites) {
    return undecided(`only ${before.writes} writes were acknowledged before the detach`);
  }
  if (facts.writes.some(({ error, begunMs }) => error !== undefined && begunMs < deleteAskedMs)) {
    return undecided('the writer had errors before the detach');
  }
  if (record.variant === 'idle') return judgeIdle(record, facts);
  if (before.silentForMs > steadyMs) {
    return undecided('the writer was silent when the detach began');
  }
  const lastHeardMs = Math.max(...facts.writes.map(answeredMs));
  const silenceMs = watchEndedMs - lastHeardMs;
  if (silenceMs > silentMs && journal.endedMs === undefined) {
    return undecided(`nothing was heard of the writer in the last ${toldInSeconds(silenceMs)}`);
  }
  return judgeWriting(record, facts, clockErrorMs);
}

function judgeWriting(record: TrialRecord, facts: TrialFacts, clockErrorMs: number): JudgedDetach {
  const { deleteAskedMs = 0, watchEndedMs = 0, goneMs } = record;
  const { firstError, lastAck } = facts;
  const horizon = `in ${toldInSeconds(watchEndedMs - deleteAskedMs)}`;
  if (firstError === undefined) {
    if (goneMs !== undefined) return ['not-cut', `detached, and no write failed ${horizon}`];
    return ['pending', `the detach did not end ${horizon}, and no write failed`];
  }
  if (lastAck !== undefined && lastAck.begunMs > firstError.begunMs) {
    const after = toldInSeconds(answeredMs(lastAck) - deleteAskedMs);
    return undecided(
      `writes failed (${firstError.error}), and one was acknowledged again after ${after}`,
    );
  }
  const failedForMs = watchEndedMs - firstError.begunMs;
  if (failedForMs < silentMs) {
    return undecided(
      `writes failed (${firstError.error}) only in the last ${toldInSeconds(failedForMs)} of the watch`,
    );
  }
  if (goneMs === undefined) {
    return [
      'cut-unanswered',
      `writes fail (${firstError.error}), yet the detach did not end ${horizon}`,
    ];
  }
  if (lastAck === undefined || lastAck.begunMs <= goneMs + clockErrorMs) {
    return [
      'cut',
      `the first error (${firstError.error}) came with the detach or before its answer`,
    ];
  }
  const tail = `writes were acknowledged for ${toldInSeconds(lastAck.begunMs - goneMs)} more`;
  const { next } = facts;
  const isByNext =
    next.waitedMs !== undefined &&
    answeredMs(firstError) >= next.waitedMs &&
    (next.inMs === undefined || answeredMs(lastAck) <= next.inMs + clockErrorMs);
  if (isByNext) return ['cut-by-next', `${tail}, until the next node staged the volume`];
  return ['late-cut', `${tail} after the answer`];
}

/** What happened while it was quiet shows in its first write after. */
function judgeIdle(record: TrialRecord, facts: TrialFacts): JudgedDetach {
  const { quietMs, loudMs } = record.writerJournal;
  const { deleteAskedMs = 0, goneMs, clockOffsetMs = 0, watchEndedMs = 0 } = record;
  if (quietMs === undefined || loudMs === undefined) return undecided('the writer was never quiet');
  if (quietMs + clockOffsetMs > deleteAskedMs) return undecided('it was not quiet at the detach');
  const loud = facts.writes.filter(({ begunMs }) => begunMs >= loudMs + clockOffsetMs);
  if (loud.length === 0) return undecided('it was never heard after its quiet time');
  const errors = loud.filter(({ error }) => error !== undefined);
  const quiet = `${toldInSeconds(loudMs + clockOffsetMs - deleteAskedMs)} after the delete`;
  if (errors.length === 0) {
    const horizon = `in ${toldInSeconds(watchEndedMs - deleteAskedMs)}`;
    if (goneMs === undefined) return ['pending', `the detach did not end ${horizon}`];
    return ['not-cut', `detached, and ${quiet} the quiet writer could write`];
  }
  if (errors.length < loud.length && loud.at(-1)?.error === undefined) {
    return undecided('after its quiet time some writes failed, and later ones did not');
  }
  if (errors.length < loud.length) return ['late-cut', `cut off more than ${quiet}`];
  if (goneMs === undefined) return ['cut-unanswered', 'cut off, and the detach did not end'];
  return ['cut', `the first write, ${quiet}, failed (${errors[0]?.error})`];
}

function numbersOf(
  record: TrialRecord,
  facts: TrialFacts,
): Omit<TrialFinding, 'name' | 'variant' | 'outcome' | 'why'> {
  const { deleteAskedMs, goneMs, attachments } = record;
  const { firstError, lastAck, next } = facts;
  if (deleteAskedMs === undefined) return { next };
  const since = (atMs: number): number => Math.round(atMs - deleteAskedMs);
  const [old, ...later] = attachments;
  const again = later.find(({ attachedMs }) => attachedMs !== undefined);
  const late = facts.writes.filter(({ begunMs }) => goneMs !== undefined && begunMs > goneMs);
  const lastSeenMs = Math.max(0, since(record.thereUntilMs ?? deleteAskedMs));
  const onDisk = record.nextJournal.scans.at(-1);
  return {
    next,
    ...handOverOf(record),
    ...(goneMs === undefined ? {} : { answerMs: since(goneMs) }),
    ...(firstError === undefined
      ? {}
      : {
          firstErrorMs: since(firstError.begunMs),
          error: firstError.error ?? '',
          ...(lastAck === undefined ? {} : { lastAckMs: since(answeredMs(lastAck)) }),
        }),
    ...(goneMs === undefined
      ? {}
      : { ackedAfterAnswer: late.filter(({ error }) => error === undefined).length }),
    ...(goneMs === undefined || lastAck === undefined || firstError === undefined
      ? {}
      : {
          tailMs: Math.max(0, Math.round(answeredMs(lastAck) - goneMs)),
          tailAtMostMs: Math.max(0, since(answeredMs(lastAck)) - lastSeenMs),
        }),
    ...(onDisk === undefined
      ? {}
      : {
          reachedAfterAnswer: late.filter(({ seq }) => isInRanges(onDisk.ranges, seq)).length,
          lostAcks: settled(record, facts.acks).filter(({ seq }) => !isInRanges(onDisk.ranges, seq))
            .length,
        }),
    ...(again?.attachedMs === undefined ? {} : { reattachedMs: since(again.attachedMs) }),
    ...(old?.detachError === undefined ? {} : { detachError: old.detachError }),
  };
}
