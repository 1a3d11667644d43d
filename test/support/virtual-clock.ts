/** A clock for tests that stands still until it is told to go on. */
import type { Clock } from '../../lib/core/time.ts';

interface Sleeper {
  readonly atMs: number;
  readonly wake: () => void;
}

export class VirtualClock implements Clock {
  #nowMs = 0;
  #sleepers: Sleeper[] = [];

  nowMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return Date.UTC(2026, 0, 1) + this.#nowMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason as Error);
      const sleeper = { atMs: this.#nowMs + ms, wake: resolve };
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', () => {
        this.#sleepers = this.#sleepers.filter((each) => each !== sleeper);
        reject(signal.reason as Error);
      });
    });
  }

  /** Lets so much time pass; all that it wakes runs as far as it can. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    await settle();
    for (;;) {
      const next = this.#sleepers.toSorted((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined || next.atMs > untilMs) break;
      this.#sleepers = this.#sleepers.filter((each) => each !== next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.wake();
      await settle();
    }
    this.#nowMs = untilMs;
  }
}

/** Every promise that can go on has gone on. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
