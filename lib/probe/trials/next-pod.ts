/** What became of the pod on the next node: in, refused by the driver, barred by Kubernetes. Pure. */
import { answeredMs } from './journal.ts';
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

function overlapOf(record: TrialRecord): number {
  const { clockOffsetMs = 0, nextClockOffsetMs = 0, watchEndedMs = Infinity } = record;
  const first = record.nextJournal.writes.find(({ error }) => error === undefined);
  if (first === undefined) return 0;
  const fromMs = answeredMs(first) + nextClockOffsetMs;
  return record.writerJournal.writes.filter(
    (write) =>
      write.error === undefined &&
      write.begunMs + clockOffsetMs > fromMs &&
      write.begunMs + clockOffsetMs <= watchEndedMs,
  ).length;
}
