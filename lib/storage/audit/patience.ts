/** A machine that lacks something may have it a moment later: a step of the audit is tried again. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Three tries in all, ten seconds apart; then the trouble is told as it is. */
const tries = 3;
const pauseMs = 10_000;

export interface RetriedWork<T> {
  readonly work: () => Promise<T>;
  /** The machine's trouble kept it from being done. */
  readonly isTrouble: (result: T) => boolean;
  readonly signal: AbortSignal;
  /** Default 10 000. */
  readonly waitMs?: number;
}

/** Resolves to the first result without trouble, or to the last one. */
export async function patiently<T>(attempt: RetriedWork<T>): Promise<T> {
  const { work, isTrouble, signal, waitMs = pauseMs } = attempt;
  for (let left = tries - 1; ; left--) {
    const result = await work();
    if (left === 0 || !isTrouble(result)) return result;
    await sleep(waitMs, undefined, { signal });
  }
}
