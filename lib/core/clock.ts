/** Time and chance as ports: nothing above lib/run/ports reads a real clock, timer or random source. */

export interface Clock {
  /** Monotonic milliseconds since the run began, with fractions. */
  nowMs(): number;
  /** Wall time, Unix milliseconds. On the model it starts at a fixed date. */
  wallMs(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
