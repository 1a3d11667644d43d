/** What each controller of the controller manager is given; a new leader makes all of them anew. */
import type { Chance } from '../chance.ts';
import type { Process } from '../process.ts';
import type { World } from '../world.ts';

export interface ControllerContext {
  readonly world: World;
  /** The controller manager's. */
  readonly process: Process;
  readonly chance: Chance;
}
