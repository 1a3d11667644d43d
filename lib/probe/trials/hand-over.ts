/** How a volume came to the other node at the end of a trial, once its writer was gone. Pure. */
import type { TrialRecord } from './record.ts';

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

/** Of one detach's end and the next attach: each is told by an object of its own. */
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
