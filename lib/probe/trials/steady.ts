/** When a writer is fit to be watched, and when it is silent. */
import { answeredMs, type Write } from './journal.ts';
import type { TrialRecord } from './record.ts';

/** It has written so often, and not longer ago than this. */
export const steadyWrites = 20;
export const steadyMs = 3000;
/** No answer for so long at the end: it hangs, or is gone. Errors come each 200 ms. */
export const silentMs = 5000;

/** Errors of a full volume or of the node itself. A fence gives others, `EIO` first of all. */
const ofMachine = /^(ENOSPC|EDQUOT|EFBIG|ENOMEM|EAGAIN|EINTR|EMFILE|ENFILE|EACCES|EPERM|EINVAL)$/;

/** Why the records of the writer prove nothing; undefined where they can. */
export function unreadable(record: TrialRecord): string | undefined {
  const { writerJournal, clockErrorMs, writer, next } = record;
  if (writerJournal.failed !== undefined) return `the writer failed: ${writerJournal.failed}`;
  if (writerJournal.gaps > 0) return `${writerJournal.gaps} lines of the writer are missing`;
  const odd = writerJournal.writes.find(({ error = '' }) => ofMachine.test(error));
  if (odd !== undefined) return `a write failed with ${odd.error}, which is no fence`;
  if (writer !== undefined && writer.node === next?.node) {
    return `both pods were on ${writer.node}: a second node was never tried`;
  }
  return clockErrorMs === undefined ? "the clock of the writer's node is not known" : undefined;
}

/** What was acknowledged before a moment: how many, and for how long it had been silent then. */
export function heardBefore(
  acks: readonly Write[],
  atMs: number,
): { readonly writes: number; readonly silentForMs: number } {
  const before = acks.filter((write) => answeredMs(write) < atMs);
  const last = before.at(-1);
  return {
    writes: before.length,
    silentForMs: last === undefined ? Infinity : atMs - answeredMs(last),
  };
}
