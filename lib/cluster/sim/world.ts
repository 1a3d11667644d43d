/** What all actors of the model share: time, chance, the API's objects, and who listens. */
import type { ObservedName } from '../../history/observations.ts';
import { Api } from './api.ts';
import type { Chance } from './chance.ts';
import type { Kernel } from './kernel.ts';
import type { Notify } from './notices.ts';
import { Process } from './process.ts';
import type { ModelSettings } from './settings.ts';
import type { DurationRange } from './timings.ts';

export interface Sighting {
  /** Name in lib/history/observations.ts; a server's log by its program. */
  readonly source: string;
  readonly name: ObservedName;
  readonly node?: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Default: now. */
  readonly atUs?: number;
}

export class World {
  readonly kernel: Kernel;
  readonly chance: Chance;
  readonly settings: ModelSettings;
  readonly api: Api;
  /** While it stands still, so does all that needs it. */
  readonly apiServer: Process;
  /** Tells observers in words. Write `world.see?.(…)`: without an observer nothing is made up. */
  see: ((sighting: Sighting) => void) | undefined;
  /** Tells of every step in integers. */
  notice: Notify = nobody;

  constructor(kernel: Kernel, chance: Chance, settings: ModelSettings) {
    this.kernel = kernel;
    this.chance = chance;
    this.settings = settings;
    this.api = new Api(this);
    this.apiServer = new Process(kernel);
  }
}

const nobody: Notify = () => undefined;

/** A duration drawn from a range. */
export const draw = ({ chance }: Pick<World, 'chance'>, range: DurationRange): number =>
  chance.within(range);

/** The first moment of a grid at or after a time. */
export const onGrid = (atUs: number, phaseUs: number, periodUs: number): number =>
  phaseUs + Math.max(0, Math.ceil((atUs - phaseUs) / periodUs)) * periodUs;
