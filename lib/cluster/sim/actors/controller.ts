/** What a controller is given: the world, and a process and chance of its own. */
import type { Chance } from '../chance.ts';
import type { Process } from '../process.ts';
import type { World } from '../world.ts';

export interface ControllerContext {
  readonly world: World;
  readonly process: Process;
  readonly chance: Chance;
}

/** What those of the controller manager get; a new leader makes all of them anew. */
export interface LeaderContext extends ControllerContext {
  /** It took over from another one. The first leader has led for long when the model begins. */
  readonly isNew: boolean;
}

/**
 * Where the grid of what a controller does periodically begins: with a new leader, at once
 * (wait.UntilWithContext); of one that has led for long, anywhere.
 */
export function gridPhaseUs({ world, chance, isNew }: LeaderContext, periodUs: number): number {
  const { nowUs } = world.kernel;
  return isNew ? nowUs : nowUs - chance.int(0, periodUs - 1);
}
