/**
 * What a trial or a cut leaves: raw, from which alone its answer follows. Times are unix milliseconds of the
 * probe, in journals of the pod's node; what did not happen is absent.
 */
import { z } from 'zod';
import type { Immutable } from '../../core/index.ts';
import { variants } from '../plan.ts';

const ms = z.number();
const maybeMs = ms.exactOptional();
const maybeText = z.string().exactOptional();
/** A writer has one each 50 ms of a watch, which lasts a day at most. */
const slot = z.number().int().nonnegative().max(2_000_000);

/** What a pod said of itself, line by line: its writes, and what it read of another's. */
export const journalSchema = z.object({
  startedMs: maybeMs,
  isDirect: z.boolean().exactOptional(),
  writes: z.array(
    z.object({
      ...{ seq: slot, begunMs: ms, tookMs: ms },
      /** An error's code, e.g. `EIO`; absent where the write was acknowledged. */
      error: maybeText,
    }),
  ),
  /** Slots of the first pod that the next one found on the disk, whole: inclusive ranges, in order. */
  scans: z.array(
    z.object({
      atMs: ms,
      ranges: z.array(z.tuple([slot, slot]).refine(([from, to]) => from <= to)),
      /** When the last of them was begun, as it stands in the slot: on the clock of the first pod's node. */
      youngestMs: maybeMs,
    }),
  ),
  blind: z.array(z.object({ atMs: ms, error: z.string() })),
  quietMs: maybeMs,
  loudMs: maybeMs,
  endedMs: maybeMs,
  /** It was told to end. */
  termMs: maybeMs,
  /** It could not even begin, or not go on: the error's code. */
  failed: maybeText,
  /** Lines that were never seen, or made no sense: evidence with a gap. */
  gaps: z.number(),
});
type Draft = z.output<typeof journalSchema>;
export type PodJournal = Immutable<Draft>;
export type Write = PodJournal['writes'][number];

export const emptyJournal: PodJournal = { writes: [], scans: [], blind: [], gaps: 0 };

/** Lines in any order; the same line twice counts once. */
export function readJournal(lines: readonly string[]): PodJournal {
  const byNumber = new Map<number, readonly string[]>();
  let strange = 0;
  for (const line of lines) {
    const [, number, rest] = /^(\d{1,9}) (.*)$/.exec(line) ?? [];
    if (number === undefined || rest === undefined) strange += 1;
    else byNumber.set(Number(number), rest.split(' '));
  }
  const numbers = [...byNumber.keys()].toSorted((a, b) => a - b);
  const missing = (numbers.at(-1) ?? 0) - numbers.length;
  const read: Draft = { writes: [], scans: [], blind: [], gaps: 0 };
  for (const number of numbers) {
    if (!take(read, byNumber.get(number) ?? [])) strange += 1;
  }
  return { ...read, gaps: missing + strange };
}

const moments = { quiet: 'quietMs', loud: 'loudMs', end: 'endedMs', term: 'termMs' } as const;

/** False for what no pod says. */
function take(journal: Draft, [word = '', ...values]: readonly string[]): boolean {
  const [first = Number.NaN, second = Number.NaN, third = Number.NaN] = values.map(Number);
  if (word === 'ack' || word === 'err') {
    const error = word === 'ack' ? {} : { error: values[3] ?? '?' };
    journal.writes.push({ seq: first, begunMs: second, tookMs: third, ...error });
    return Number.isInteger(first) && Number.isFinite(second + third);
  }
  if (word in moments) journal[moments[word as keyof typeof moments]] = first;
  else if (word === 'start') {
    Object.assign(journal, { startedMs: first, isDirect: values[1] === 'direct' });
  } else if (word === 'scan') {
    const youngestMs = Number(values[3]);
    const youngest = Number.isFinite(youngestMs) ? { youngestMs } : {};
    journal.scans.push({ atMs: first, ranges: rangesOf(values[2] ?? ''), ...youngest });
  } else if (word === 'blind') journal.blind.push({ atMs: first, error: values[1] ?? '?' });
  else if (word === 'fail') journal.failed = values[1] ?? '?';
  else return false;
  return Number.isFinite(first);
}

const rangesOf = (text: string): [number, number][] =>
  [...text.matchAll(/(\d+)-(\d+)/g)].map(([, from, to]) => [Number(from), Number(to)]);

/** One attachment of a node, by its uid: Kubernetes makes the next under the same name. */
const attachment = z.object({
  uid: z.string(),
  firstSeenMs: ms,
  lastSeenMs: ms,
  /** From the first look that found it attached. */
  attachedMs: maybeMs,
  /** The last look that did not find it attached began then. */
  waitedMs: maybeMs,
  /** The last look that found nobody asking for its end began then. */
  unaskedMs: maybeMs,
  /** Somebody asked for its end. */
  deletingMs: maybeMs,
  /** The driver's words, where an attach or a detach failed: the last. */
  attachError: maybeText,
  detachError: maybeText,
});
export type AttachmentSeen = Immutable<z.output<typeof attachment>>;

const pod = z.object({
  node: z.string(),
  createdMs: ms,
  /** It runs: its volume was attached, staged and published. */
  runningMs: maybeMs,
  goneMs: maybeMs,
});
export type PodSeen = Immutable<z.output<typeof pod>>;

export const trialRecordSchema = z.object({
  name: z.string(),
  variant: z.enum(variants),
  claim: z.string(),
  volume: maybeText,
  handle: maybeText,
  attachment: maybeText,
  /** The delete, and the end of the watch after it: of the attachment, or by force of the pod. */
  deleteAskedMs: maybeMs,
  /** The API's answer to it: the object may stay, with its finalizer. */
  deleteAnsweredMs: maybeMs,
  watchEndedMs: maybeMs,
  /** Between the last look that found the deleted attachment and the first that did not. */
  thereUntilMs: maybeMs,
  goneMs: maybeMs,
  /** Attachments of the writer's node, in order: the first is the one that was deleted. */
  attachments: z.array(attachment),
  nextAttachment: attachment.exactOptional(),
  writer: pod.exactOptional(),
  next: pod.exactOptional(),
  events: z.array(z.object({ reason: z.string(), message: z.string(), pod: z.string(), atMs: ms })),
  /** Added to the writer's node's time it gives the probe's, too late by no more than `clockErrorMs`. */
  clockOffsetMs: maybeMs,
  clockErrorMs: maybeMs,
  writerJournal: journalSchema,
  nextJournal: journalSchema,
  nextClockOffsetMs: maybeMs,
  /** Why the next pod did not have the volume, though the first one was gone: what reached the disk, nobody read. */
  readBack: maybeText,
  /** The step at which it ended early, and why. */
  ended: maybeText,
});
export type TrialRecord = Immutable<z.output<typeof trialRecordSchema>>;
export type EventSeen = TrialRecord['events'][number];

/**
 * Record of a volume under the cut. `deleteAskedMs` is the remedy, or where nobody does anything when the
 * next pod was made; `watchEndedMs` is the end of the late writes.
 */
const volume = trialRecordSchema.extend({ storageClass: z.string() });
export type CutVolume = Immutable<z.output<typeof volume>>;

/** Whether the other node reached the node that is cut off. */
const look = z.object({ word: z.enum(['up', 'down']), atMs: ms });
export type ReachabilityLook = Immutable<z.output<typeof look>>;

export const cutRecordSchema = z.object({
  /** Unreachable and reachable again, in the rehearsal. */
  rehearsedMs: maybeMs,
  armedMs: maybeMs,
  /** Boot ids of the host that is cut off, when its heal was armed and once it had run; older records have none. */
  armedBootId: maybeText,
  healedBootId: maybeText,
  /** Seen from the second vantage point. */
  cutMs: maybeMs,
  /** The API's: not Ready, whatever it says then. */
  notReadyMs: maybeMs,
  remedyMs: maybeMs,
  healedMs: maybeMs,
  readyAgainMs: maybeMs,
  /** The host itself: nothing of the cut is left there. */
  checked: z.boolean(),
  looks: z.array(look),
  volumes: z.array(volume),
});
export type CutRecord = Immutable<z.output<typeof cutRecordSchema>>;

export type DraftOf<T> = { -readonly [K in keyof T]: T[K] };
