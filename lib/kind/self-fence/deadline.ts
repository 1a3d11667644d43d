/**
 * How long a node may go on without a sign that Kubernetes still takes it for alive: pure, on a
 * clock that its user gives.
 */

export class Deadline {
  readonly #afterMs: number;
  #renewal: string | undefined;
  /** When the question began whose answer first showed that renewal. */
  #aliveAtMs: number | undefined;

  constructor(afterMs: number) {
    this.#afterMs = afterMs;
  }

  /**
   * The Lease shows this renewal. Only a renewal that is new counts: the first one may be as old
   * as it likes. It counts from the question, before which the renewal may have happened, never after.
   */
  note(renewal: string, beganAtMs: number): void {
    if (this.#renewal !== undefined && renewal !== this.#renewal) this.#aliveAtMs = beganAtMs;
    this.#renewal = renewal;
  }

  /** Without a renewal yet: not alive. */
  isAlive(nowMs: number): boolean {
    return this.#aliveAtMs !== undefined && nowMs - this.#aliveAtMs < this.#afterMs;
  }

  /** Undefined before the first renewal. */
  silentForMs(nowMs: number): number | undefined {
    return this.#aliveAtMs === undefined ? undefined : nowMs - this.#aliveAtMs;
  }
}
