/**
 * From what a trial left to what it shows, by rules alone: pure. Where the records don't tell, the
 * outcome is `undecided` with the reason, never a guess.
 */
import { toldInSeconds } from '../../core/index.ts';
import { because } from '../../judge/index.ts';
import { type Planned, contradictionsIn } from './facts.ts';
import {
  type Judged,
  answeredMs,
  decided,
  heardOf,
  isInRanges,
  lostAcksOf,
  silentMs,
  sinceOf,
  unreadable,
  wasSilent,
} from './heard.ts';
import type { TrialRecord, Write } from './record.ts';
import type { DetachVariant } from '../plan.ts';

export type DetachOutcome =
  /** The writer was cut off before the detach was answered. */
  | 'cut'
  | 'late-cut'
  /** It was cut off once the next pod had the volume staged. */
  | 'cut-by-next'
  /** It was cut off, and the detach was never answered. */
  | 'cut-unanswered'
  /** It wrote on to the end of the watch, and the detach was answered. */
  | 'not-cut'
  /** It wrote on, and the detach was refused or hung to the end of the watch. */
  | 'pending'
  | 'undecided';

/** Milliseconds are since the delete, but where they say otherwise. */
export type TrialFinding = ReturnType<typeof classify>;

/** Record of a trial that took an attachment away. */
export type DetachRecord = TrialRecord & { readonly variant: DetachVariant };

export function classify(record: DetachRecord, plan: Planned) {
  const { name, variant } = record;
  const facts = factsOf(record);
  const { ofRecords, ofDriver } = contradictionsIn(record, plan);
  return {
    ...{ name, variant, ...decided(judge(record, facts), ofRecords), next: facts.next },
    ...numbersOf(record, facts),
    /** Why the driver is none of a known mode, whatever the outcome. */
    ofDriver,
  };
}

function factsOf(record: DetachRecord) {
  const { deleteAskedMs = Infinity, watchEndedMs } = record;
  const heard = heardOf(record, watchEndedMs);
  const firstError = heard.writes.find(
    (write) => write.error !== undefined && answeredMs(write) >= deleteAskedMs,
  );
  return { ...heard, firstError, lastAck: heard.acks.at(-1) };
}
type TrialFacts = ReturnType<typeof factsOf>;

type JudgedDetach = Judged<DetachOutcome>;

function judge(record: DetachRecord, facts: TrialFacts): JudgedDetach {
  const { deleteAskedMs, watchEndedMs, ended } = record;
  const { acks, writes } = facts;
  if (ended !== undefined) return because('STEP_FAILED', ended);
  if (deleteAskedMs === undefined || watchEndedMs === undefined) {
    return because('NOT_DELETED', 'the attachment was not deleted');
  }
  const why = unreadable(record, acks, deleteAskedMs, 'detach');
  if (why !== undefined) return why;
  if (writes.some(({ error, begunMs }) => error !== undefined && begunMs < deleteAskedMs)) {
    return because('ERRORS_BEFORE', 'the writer had errors before the detach');
  }
  const horizon = `in ${toldInSeconds(watchEndedMs - deleteAskedMs)}`;
  if (record.variant === 'idle') return judgeIdle(record, facts, horizon);
  if (wasSilent(acks, deleteAskedMs)) {
    return because('WRITER_SILENT', 'the writer was silent when the detach began');
  }
  const silenceMs = watchEndedMs - Math.max(...writes.map(answeredMs));
  if (silenceMs > silentMs) {
    const forS = toldInSeconds(silenceMs);
    return because('WRITER_UNHEARD', `nothing was heard of the writer in the last ${forS}`);
  }
  return judgeWriting(record, facts, horizon);
}

function judgeWriting(record: TrialRecord, facts: TrialFacts, horizon: string): JudgedDetach {
  const { deleteAskedMs = 0, watchEndedMs = 0, goneMs, clockErrorMs = 0 } = record;
  const { firstError, lastAck, next } = facts;
  if (firstError === undefined) {
    return goneMs === undefined
      ? ['pending', `the detach did not end ${horizon}, and no write failed`]
      : ['not-cut', `detached, and no write failed ${horizon}`];
  }
  const { error, begunMs } = firstError;
  if (lastAck !== undefined && lastAck.begunMs > begunMs) {
    const after = toldInSeconds(answeredMs(lastAck) - deleteAskedMs);
    const words = `writes failed (${error}), and one was acknowledged again after ${after}`;
    return because('WROTE_AGAIN', words);
  }
  const failedForMs = watchEndedMs - begunMs;
  if (failedForMs < silentMs) {
    const words = `writes failed (${error}) only in the last ${toldInSeconds(failedForMs)} of the watch`;
    return because('FAILED_LATE', words);
  }
  if (goneMs === undefined) {
    return ['cut-unanswered', `writes fail (${error}), yet the detach did not end ${horizon}`];
  }
  if (lastAck === undefined || lastAck.begunMs <= goneMs + clockErrorMs) {
    return ['cut', `the first error (${error}) came with the detach or before its answer`];
  }
  const tail = `writes were acknowledged for ${toldInSeconds(lastAck.begunMs - goneMs)} more`;
  const isByNext =
    next.waitedMs !== undefined &&
    answeredMs(firstError) >= next.waitedMs &&
    (next.inMs === undefined || answeredMs(lastAck) <= next.inMs + clockErrorMs);
  if (isByNext) return ['cut-by-next', `${tail}, until the next node staged the volume`];
  return ['late-cut', `${tail} after the answer`];
}

/** What happened while it was quiet shows in its first write after. */
function judgeIdle(record: TrialRecord, { writes }: TrialFacts, horizon: string): JudgedDetach {
  const { quietMs, loudMs } = record.writerJournal;
  const { deleteAskedMs = 0, goneMs, clockOffsetMs = 0 } = record;
  if (quietMs === undefined || loudMs === undefined) {
    return because('NOT_QUIET', 'the writer was never quiet');
  }
  if (quietMs + clockOffsetMs > deleteAskedMs) {
    return because('NOT_QUIET', 'it was not quiet at the detach');
  }
  const loud = writes.filter(({ begunMs }) => begunMs >= loudMs + clockOffsetMs);
  if (loud.length === 0) return because('WRITER_UNHEARD', 'it did not write after its quiet time');
  const errors = loud.filter(({ error }) => error !== undefined);
  const quiet = `${toldInSeconds(loudMs + clockOffsetMs - deleteAskedMs)} after the delete`;
  if (errors.length === 0) {
    return goneMs === undefined
      ? ['pending', `the detach did not end ${horizon}`]
      : ['not-cut', `detached, and ${quiet} the quiet writer could write`];
  }
  if (errors.length < loud.length && loud.at(-1)?.error === undefined) {
    return because(
      'WROTE_AGAIN',
      'after its quiet time some writes failed, and later ones did not',
    );
  }
  if (errors.length < loud.length) return ['late-cut', `cut off more than ${quiet}`];
  if (goneMs === undefined) return ['cut-unanswered', 'cut off, and the detach did not end'];
  return ['cut', `the first write, ${quiet}, failed (${errors[0]?.error})`];
}

function numbersOf(record: TrialRecord, facts: TrialFacts) {
  const { deleteAskedMs: zeroMs, goneMs = Infinity, attachments, nextJournal } = record;
  const { firstError, lastAck, writes, acks } = facts;
  if (zeroMs === undefined) return undefined;
  const { thereUntilMs = zeroMs } = record;
  const since = sinceOf(zeroMs);
  const later = attachments.slice(1).find(({ attachedMs }) => attachedMs !== undefined);
  const isLate = ({ begunMs }: Write): boolean => begunMs > goneMs;
  const { lastSeenMs = 0 } = attachments[0] ?? {};
  const besideMs = Math.round(lastSeenMs - (record.nextAttachment?.attachedMs ?? Infinity));
  const lastMs = firstError && lastAck && answeredMs(lastAck);
  const hasTail = goneMs !== Infinity && lastMs !== undefined;
  const seenToMs = Math.max(0, Math.round(thereUntilMs - zeroMs));
  const onDisk = nextJournal.scans.at(-1);
  return {
    handOver: handOverOf(record),
    /** For so long the attachment that was deleted was seen beside one of the next node, at least. */
    besideMs: besideMs > 0 ? besideMs : undefined,
    /** The attachment's end: at most so long. */
    answerMs: since(record.goneMs),
    firstErrorMs: since(firstError?.begunMs),
    error: firstError?.error,
    /** Of a writer that was cut off. */
    lastAckMs: since(lastMs),
    ackedAfterAnswer: goneMs === Infinity ? undefined : acks.filter(isLate).length,
    /** From the answer to the last acknowledged write: at least, and since the attachment was last seen. */
    tailMs: hasTail ? Math.max(0, Math.round(lastMs - goneMs)) : undefined,
    tailAtMostMs: hasTail ? Math.max(0, Math.round(lastMs - zeroMs) - seenToMs) : undefined,
    /** Begun after the answer, and found by the next pod: also unacknowledged ones. */
    reachedAfterAnswer:
      onDisk &&
      writes.filter((write) => isLate(write) && isInRanges(onDisk.ranges, write.seq)).length,
    lostAcks: lostAcksOf(record, acks),
    reattachedMs: since(later?.attachedMs),
    detachError: attachments[0]?.detachError,
  };
}

/** Whether the next pod had the volume once the writer was gone; else why not. */
function handOverOf(record: TrialRecord): 'done' | { readonly failed: string } | undefined {
  const { variant, nextJournal, readBack } = record;
  if (variant === 'contested') return undefined;
  if (nextJournal.scans.length > 0) return 'done';
  return readBack === undefined ? undefined : { failed: readBack };
}
