/** What all actors of the model share: time, chance, the API's objects, and who listens. */
import type { Scenario } from '../../experiment/scenario.ts';
import type { ObservedName } from '../../history/observations.ts';
import type { RandomStream } from '../../random.ts';
import type { Api } from './api.ts';
import type { Kernel } from './kernel.ts';
import type { Range } from './timings.ts';

/** What a scenario sets; times in the model's own unit. */
export interface Settings
  extends Pick<
    Scenario,
    | 'disk'
    | 'forceDetach'
    | 'watcherCheck'
    | 'attachWhileBusy'
    | 'fileLocks'
    | 'filesystem'
    | 'accessMode'
    | 'powerLoss'
    | 'trxCommit'
  > {
  readonly graceUs: number;
  readonly tolerationUs: number;
  readonly forceDetachAfterUs: number;
  readonly cutAfterUs: number;
  readonly terminationGraceUs: number;
}

export interface Sighting {
  readonly source: 'api' | 'controller-manager' | 'csi' | 'mounts' | 'devices' | 'mysqld';
  readonly name: ObservedName;
  readonly node?: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Default: now. */
  readonly atUs?: number;
}

export interface World {
  readonly kernel: Kernel;
  readonly chance: RandomStream;
  readonly settings: Settings;
  readonly api: Api;
  /** Tells observers, where there are any. Assigned anew by whoever observes. */
  see: (sighting: Sighting) => void;
}

/** A duration drawn from a range. */
export const draw = ({ chance }: Pick<World, 'chance'>, { minUs, maxUs }: Range): number =>
  chance.int(minUs, maxUs);

/** Calls `run` at times one period apart, from a random moment within the first one on. */
export function every(world: World, periodUs: number, run: () => void): void {
  const tick = (): void => {
    world.kernel.schedule(periodUs, tick);
    run();
  };
  world.kernel.schedule(world.chance.int(0, periodUs), tick);
}

/** A level-triggered actor: any number of nudges before its delay is over make one reconcile. */
export function coalesced(world: World, delay: Range, reconcile: () => void): () => void {
  let pending = false;
  return () => {
    if (pending) return;
    pending = true;
    world.kernel.schedule(draw(world, delay), () => {
      pending = false;
      reconcile();
    });
  };
}
