/**
 * The machine's clock. CLOCK_MONOTONIC (process.hrtime) is one time base for every process and
 * container of the machine, so a run's origin handed on makes all their times comparable.
 */
import { setTimeout as timeout } from 'node:timers/promises';
import type { Clock } from './clock.ts';

/** A timer of Node's that is set for longer fires at once. */
const longestTimerMs = 2 ** 31 - 1;

export interface RealClock extends Clock {
  /** CLOCK_MONOTONIC when the run began, nanoseconds: give it to every process of the run. */
  readonly originNs: bigint;
}

export function realClock(originNs: bigint = process.hrtime.bigint()): RealClock {
  const offsetMs = offsetFrom(originNs);
  return {
    originNs,
    nowMs: () => performance.now() + offsetMs,
    wallMs: () => Date.now(),
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      try {
        const options = signal === undefined ? {} : { signal };
        for (let leftMs = Math.max(0, ms); ; leftMs -= longestTimerMs) {
          await timeout(Math.min(leftMs, longestTimerMs), undefined, options);
          if (!(leftMs > longestTimerMs)) return;
        }
      } catch (error) {
        // Node wraps the reason in an AbortError of its own; the port promises the reason itself.
        signal?.throwIfAborted();
        throw error;
      }
    },
  };
}

/**
 * What to add to performance.now(), which reads hrtime's clock at a third of its price: writers ask
 * three times an operation. A process may lose the processor between two readings, so the pair
 * that took the least time is believed.
 */
function offsetFrom(originNs: bigint): number {
  let least = Number.POSITIVE_INFINITY;
  let offsetMs = 0;
  for (let reading = 0; reading < 8; reading += 1) {
    const before = process.hrtime.bigint();
    const nowMs = performance.now();
    const tookNs = Number(process.hrtime.bigint() - before);
    if (tookNs >= least) continue;
    least = tookNs;
    offsetMs = (Number(before - originNs) + tookNs / 2) / 1e6 - nowMs;
  }
  return offsetMs;
}
