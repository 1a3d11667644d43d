/**
 * Who uses a lease now. Its network tells the engine's own clusters; loop devices are the kernel's, and
 * tell other engines of the machine only while a volume is attached: in between, a lock does.
 */
import { tryLock, type Lock } from '../../../lock.ts';

/** Held while a process works on the lease's cluster; a kept one has nobody's between two runs. */
export class LeaseHold {
  readonly #holder: string;
  #index: number | undefined;
  #lock: Lock | undefined;

  /** `holder` says who has it. */
  constructor(holder: string) {
    this.#holder = holder;
  }

  /** Whether nobody else has this one; what was held before is free again. Never waits. */
  async take(index: number): Promise<boolean> {
    if (this.#index === index) return true;
    await this.release();
    this.#lock = tryLock(`lease/${index}`, this.#holder);
    if (this.#lock === undefined) return false;
    this.#index = index;
    return true;
  }

  /** Idempotent. */
  async release(): Promise<void> {
    this.#index = undefined;
    await this.#lock?.release();
    this.#lock = undefined;
  }
}
