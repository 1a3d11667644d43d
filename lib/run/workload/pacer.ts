/** Even spacing of one connection's operations. Being late is never caught up with a burst. */

export class Pacer {
  /** From one operation of the connection to its next; Infinity where there are none. */
  readonly intervalMs: number;
  #dueMs: number;

  /** `ratePerSecond` is the client's; its connections take turns, evenly staggered. */
  constructor(ratePerSecond: number | 'max', connections: number, turn: number, startMs: number) {
    const slotMs = ratePerSecond === 'max' ? 0 : 1000 / ratePerSecond;
    this.intervalMs = slotMs * connections;
    this.#dueMs = startMs + slotMs * turn;
  }

  /** Takes the next slot: milliseconds from now until it begins, 0 when it is due. */
  takeMs(nowMs: number): number {
    const beginMs = Math.max(this.#dueMs, nowMs);
    this.#dueMs = beginMs + this.intervalMs;
    return beginMs - nowMs;
  }
}
