/** When a writer is fit to be watched, and when it is silent. */
import { answeredMs, type Write } from './journal.ts';
import type { TrialRecord } from './record.ts';

/** It has written so often, and not longer ago than this. */
export const steadyWrites = 20;
export const steadyMs = 3000;
/** No answer for so long at the end: it hangs, or is gone. Errors come each 200 ms. */
export const silentMs = 5000;

/** Why what the writer said can't be relied on; undefined where it can. */
export function unreadable({ writerJournal, clockErrorMs }: TrialRecord): string | undefined {
  if (writerJournal.failed !== undefined) return `the writer failed: ${writerJournal.failed}`;
  if (writerJournal.gaps > 0) return `${writerJournal.gaps} lines of the writer are missing`;
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
