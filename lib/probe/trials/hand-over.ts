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
  const { lastSeenMs = 0 } = record.attachments[0] ?? {};
  const besideMs = Math.round(lastSeenMs - (record.nextAttachment?.attachedMs ?? Infinity));
  return {
    ...(handOver === undefined ? {} : { handOver }),
    ...(besideMs > 0 ? { besideMs } : {}),
  };
}

/** What was asked of trials whose next pod came last. */
function doneOf({ variant, nextJournal, readBack }: TrialRecord): HandOverFinding['handOver'] {
  if (variant === 'contested') return undefined;
  if (nextJournal.scans.length > 0) return 'done';
  return readBack === undefined ? undefined : { failed: readBack };
}
