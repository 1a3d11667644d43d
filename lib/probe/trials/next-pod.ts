/**
 * What became of the pod on the next node: in, refused by the driver, barred by Kubernetes; and how the
 * volume came there at the end of a trial, once its writer was gone. Pure.
 */
import { answeredMs, writesBy, type Write } from './journal.ts';
import type { TrialRecord } from './record.ts';

export interface NextFinding {
  /**
   * `in`: its volume was mounted during the watch; `refused`: it was attached, and the driver did not
   * stage it; `not-attached`: the driver did not attach it; `barred`: Kubernetes did not ask the driver;
   * `waited`: nothing was said; `not-tried`.
   */
  readonly was: 'in' | 'refused' | 'not-attached' | 'barred' | 'waited' | 'not-tried';
  /** The driver's words, or Kubernetes'. */
  readonly said?: string;
  /** Unix milliseconds: its node was attached between these two. */
  readonly waitedMs?: number;
  readonly attachedMs?: number;
  /** Unix milliseconds: its program runs. */
  readonly inMs?: number;
  /** From the delete of the first one's attachment, or of the first one. */
  readonly afterMs?: number;
  /** Writes of the first pod that were acknowledged once this one's were. */
  readonly overlapAcks?: number;
}

/**
 * Events that hold the driver's words. Kubernetes' own has the same reason, and its text differs by
 * version (`Multi-Attach error …`; from 1.37 `Waiting for detach …`); nor does kubelet's patience count,
 * or what it does by itself to keep a raw device open (`MapBlockVolume`).
 */
const ofDriver =
  /^(AttachVolume\.Attach|Mount(Volume|Device)|MountVolume\.\w+|MapVolume\.(SetUpDevice|MapPodDevice)) failed/;
const attachFailed = 'FailedAttachVolume';
const barring = /already (used by|exclusively attached)/;

export function nextOf(record: TrialRecord): NextFinding {
  const { next, deleteAskedMs = 0, watchEndedMs = Infinity } = record;
  const isWatched = record.variant === 'contested' || record.variant === 'force-deleted';
  if (!isWatched || next === undefined) return { was: 'not-tried' };
  const { attachedMs, waitedMs = deleteAskedMs } = record.nextAttachment ?? {};
  const attached = attachedMs === undefined ? {} : { waitedMs, attachedMs };
  const startedMs = record.nextJournal.startedMs;
  const inMs =
    startedMs === undefined ? next.runningMs : startedMs + (record.nextClockOffsetMs ?? 0);
  if (inMs !== undefined && inMs <= watchEndedMs) {
    return {
      ...{ was: 'in', ...attached, inMs, afterMs: Math.round(inMs - deleteAskedMs) },
      overlapAcks: overlapOf(record),
    };
  }
  const about = record.events.filter(
    ({ pod, reason }) =>
      pod.endsWith('-b') && [attachFailed, 'FailedMount', 'FailedMapVolume'].includes(reason),
  );
  const refused = about.findLast(({ message }) => ofDriver.test(message));
  if (refused !== undefined) {
    const isOfAttach = refused.reason === attachFailed && attachedMs === undefined;
    return { was: isOfAttach ? 'not-attached' : 'refused', ...attached, said: refused.message };
  }
  const barred = about.findLast(({ message }) => barring.test(message));
  if (barred !== undefined) return { was: 'barred', ...attached, said: barred.message };
  return { was: 'waited', ...attached };
}

/** When its first write was acknowledged, on the probe's clock; Infinity where none was. */
export function nextWroteMs({ nextJournal, nextClockOffsetMs = 0 }: TrialRecord): number {
  const first = nextJournal.writes.find(({ error }) => error === undefined);
  return first === undefined ? Infinity : answeredMs(first) + nextClockOffsetMs;
}

function overlapOf(record: TrialRecord): number {
  const { clockOffsetMs, watchEndedMs = Infinity } = record;
  const fromMs = nextWroteMs(record);
  return writesBy(record.writerJournal, clockOffsetMs).filter(
    ({ error, begunMs }) => error === undefined && begunMs > fromMs && begunMs <= watchEndedMs,
  ).length;
}

/** What was heard of a writer, on the probe's clock and in order, and what became of the next pod. */
export interface PodsHeard {
  readonly writes: readonly Write[];
  readonly acks: readonly Write[];
  readonly next: NextFinding;
}

export interface HandOverFinding {
  /** Whether the next pod had the volume once the writer was gone; else why not. */
  readonly handOver?: 'done' | { readonly failed: string };
  /** For so long the attachment that was deleted was seen beside one of the next node, at least. */
  readonly besideMs?: number;
}

export function handOverOf(record: TrialRecord): HandOverFinding {
  const handOver = doneOf(record);
  const besideMs = besideOf(record);
  return {
    ...(handOver === undefined ? {} : { handOver }),
    ...(besideMs > 0 ? { besideMs } : {}),
  };
}

/** Tolerance between one detach's end and the next attach: each is told by an object of its own. */
const apartMs = 1000;
export const isBeside = (besideMs: number): boolean => besideMs > apartMs;

/** 0 and less: the one was gone before the other was there. */
export function besideOf({ attachments, nextAttachment }: TrialRecord): number {
  const { lastSeenMs = 0 } = attachments[0] ?? {};
  return Math.round(lastSeenMs - (nextAttachment?.attachedMs ?? Infinity));
}

/** What was asked of trials whose next pod came last. */
function doneOf({ variant, nextJournal, readBack }: TrialRecord): HandOverFinding['handOver'] {
  if (variant === 'contested' || variant === 'force-deleted') return undefined;
  if (nextJournal.scans.length > 0) return 'done';
  return readBack === undefined ? undefined : { failed: readBack };
}
