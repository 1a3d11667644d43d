/** Who could write when: for how long two nodes could at once. */
import type { Model } from '../cluster/sim/model.ts';

export class WriterWatch {
  readonly #model: Model;
  #sinceUs: number | undefined;
  #totalUs = 0;

  constructor(model: Model) {
    this.#model = model;
  }

  get overlapUs(): number {
    const openUs = this.#sinceUs === undefined ? 0 : this.#model.kernel.nowUs - this.#sinceUs;
    return this.#totalUs + openUs;
  }

  /** Takes note of how things stand now. */
  look(): void {
    const { nowUs } = this.#model.kernel;
    if (this.#twoWrite()) this.#sinceUs ??= nowUs;
    else if (this.#sinceUs !== undefined) {
      this.#totalUs += nowUs - this.#sinceUs;
      this.#sinceUs = undefined;
    }
  }

  /** The disk would take writes of two nodes. One that stands still comes back. */
  #twoWrite(): boolean {
    const { volume } = this.#model;
    // Locks that all nodes share let one server in at a time.
    if (volume.files === 'shared') return false;
    let first: string | undefined;
    for (const path of volume.paths) {
      if (!path.writes || path.node === first) continue;
      if (first !== undefined) return true;
      first = path.node;
    }
    return false;
  }
}
