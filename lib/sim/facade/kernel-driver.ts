/**
 * Lets virtual time pass. Time runs only while somebody above waits for it, and only once nothing
 * above can run: after each event that settled a promise every microtask is drained. Real time and real
 * input never decide what happens next; they are heard now and then.
 */
import type { Clock } from '../../core/index.ts';
import type { Kernel } from '../kernel.ts';
import { msUs } from '../timings.ts';

const epochMs = Date.UTC(2026, 0, 1);

export class KernelDriver {
  readonly kernel: Kernel;
  /** Waits of the experiment: while there are any, time passes. */
  #waiting = 0;
  #running = false;
  /** An event settled a promise or told a listener: what is above may be runnable. */
  #woken = false;

  constructor(kernel: Kernel) {
    this.kernel = kernel;
  }

  /** The experiment's clock: its sleeps make time pass. */
  get clock(): Clock {
    return this.#clockOf((ms, signal) => this.during(this.#sleep(ms, signal)));
  }

  /** The clock of what runs along, such as writers: its sleeps wait for others to make time pass. */
  get backgroundClock(): Clock {
    return this.#clockOf((ms, signal) => this.#sleep(ms, signal));
  }

  get nowMs(): number {
    return this.kernel.nowUs / msUs;
  }

  wallMs(atUs: number = this.kernel.nowUs): number {
    return Math.round(epochMs + atUs / msUs);
  }

  /** Does something in the model after so much virtual time, and resolves to what it gave. */
  perform<T>(delayUs: number, work: () => T): Promise<T> {
    return this.performBy((run) => this.kernel.schedule(delayUs, run), work);
  }

  /** The same once `begin` calls what it is given. */
  performBy<T>(begin: (run: () => void) => unknown, work: () => T): Promise<T> {
    const performed = this.background<T>((resolve, reject) => {
      begin(() => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      });
    });
    return this.during(performed);
  }

  /** What runs along: settled by some later event of the kernel, and nobody waits for it here. */
  background<T>(
    start: (resolve: (value: T) => void, reject: (error: unknown) => void) => void,
  ): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const waking =
      <V>(settle: (value: V) => void) =>
      (value: V): void => {
        this.wake();
        settle(value);
      };
    start(waking(resolve), waking(reject));
    return promise;
  }

  /** A wait of the experiment: makes time pass until the promise settles. */
  async during<T>(promise: Promise<T>): Promise<T> {
    this.#waiting += 1;
    if (!this.#running) void this.#run();
    try {
      return await promise;
    } finally {
      this.#waiting -= 1;
    }
  }

  wake(): void {
    this.#woken = true;
  }

  #clockOf(sleep: Clock['sleep']): Clock {
    return { nowMs: () => this.nowMs, wallMs: () => this.wallMs(), sleep };
  }

  #sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.background((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason);
        return;
      }
      const onAbort = (): void => {
        this.kernel.cancel(timer);
        reject(signal?.reason);
      };
      // The rest of a wait may be a rounding error; it must end later, or its caller waits for ever.
      const delayUs = ms > 0 ? Math.max(1, ms * msUs) : 0;
      const timer = this.kernel.schedule(delayUs, () => {
        signal?.removeEventListener('abort', onAbort);
        resolve(undefined);
      });
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  async #run(): Promise<void> {
    this.#running = true;
    await turn();
    for (let turns = 0; this.#waiting > 0; turns++) {
      this.#woken = false;
      while (!this.#woken && this.kernel.step());
      await (turns % turnsPerLook === 0 ? turn() : drained());
    }
    this.#running = false;
  }
}

/** Resolves once no microtask is left: Node asks for the next tick only then. */
const drained = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

/** Also lets signals and output of the real process through; dearer, so only once in so many times. */
const turnsPerLook = 100;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
