/** Waiting for a condition, on the run's own clock. */
import type { Clock } from '../core/index.ts';

export interface WaitUntilOptions {
  /** On the clock's time line, not a duration. */
  readonly deadlineMs: number;
  /** Default 100. */
  readonly everyMs?: number;
  readonly signal: AbortSignal;
}

/** True as soon as the condition holds, false at the deadline. Rejects when aborted. */
export async function waitUntil(
  clock: Clock,
  condition: () => boolean,
  { deadlineMs, everyMs = 100, signal }: WaitUntilOptions,
): Promise<boolean> {
  while (!condition()) {
    const leftMs = deadlineMs - clock.nowMs();
    if (leftMs <= 0) return false;
    await clock.sleep(Math.min(everyMs, leftMs), signal);
  }
  return true;
}
