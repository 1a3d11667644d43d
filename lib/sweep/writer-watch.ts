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

  /** The writes of two nodes reach the disk. */
  #twoWrite(): boolean {
    const { volume, machine } = this.#model;
    // Locks that all nodes share let one server in at a time.
    if (volume.files === 'shared') return false;
    let first: string | undefined;
    for (const path of volume.paths) {
      if (!path.writes || path.node === first || machine(path.node).state !== 'running') continue;
      if (first !== undefined) return true;
      first = path.node;
    }
    return false;
  }
}
