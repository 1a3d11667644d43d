import type { Api } from '../api.ts';
import type { Chance } from '../chance.ts';
import type { Process } from '../process.ts';
import type { DurationRange } from '../timings.ts';
import type { World } from '../world.ts';

export interface ControllerContext {
  readonly world: World;
  readonly process: Process;
  readonly chance: Chance;
  /** It took over from another leader. Default: it has led for long when the model begins. */
  readonly isNew?: boolean;
}

/** What each controller has: the world, and a process and chance of its own. */
export class Controller {
  readonly world: World;
  readonly api: Api;
  readonly process: Process;
  readonly chance: Chance;
  readonly #isNew: boolean;

  constructor({ world, process, chance, isNew = false }: ControllerContext) {
    this.world = world;
    this.api = world.api;
    this.process = process;
    this.chance = chance;
    this.#isNew = isNew;
  }

  get nowUs(): number {
    return this.world.kernel.nowUs;
  }

  /** Does it so much later, as drawn. */
  after(range: DurationRange, work: () => void): void {
    this.process.after(this.chance.within(range), work);
  }

  at(atUs: number, work: () => void): void {
    this.process.after(Math.max(0, atUs - this.nowUs), work);
  }

  /**
   * Where the grid of what it does periodically begins: with a new leader, at once
   * (wait.UntilWithContext); of one that has led for long, anywhere.
   */
  gridPhaseUs(periodUs: number): number {
    return this.#isNew ? this.nowUs : this.nowUs - this.chance.int(0, periodUs - 1);
  }
}
