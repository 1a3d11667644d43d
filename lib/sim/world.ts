/** What all actors of the model share: time, chance, the API's objects, and who listens. */
import type { Database } from '../run/index.ts';
import type { Scenario } from '../scenario/index.ts';
import { Api } from './api.ts';
import type { Chance } from './chance.ts';
import type { Kernel } from './kernel.ts';
import type { Notify } from './notices.ts';
import { Process } from './process.ts';
import {
  clusterSettingsOf,
  volumeSettingsOf,
  type ClusterSettings,
  type VolumeSettings,
} from './settings.ts';
import type { Lookout } from './sightings.ts';
import type { DurationRange } from './timings.ts';

export class World implements Lookout {
  readonly kernel: Kernel;
  readonly chance: Chance;
  readonly database: Database;
  readonly settings: ClusterSettings;
  readonly #first: VolumeSettings;
  readonly #ofVolumes: readonly VolumeSettings[];
  readonly api = new Api(this);
  /** While it stands still, so does all that needs it. */
  readonly apiServer: Process;
  see: Lookout['see'];
  notice: Notify = () => undefined;

  /** `others`: of the volumes after the first; all agree in what is the cluster's. */
  constructor(
    kernel: Kernel,
    chance: Chance,
    database: Database,
    scenario: Scenario,
    others: readonly Scenario[],
  ) {
    this.kernel = kernel;
    this.chance = chance;
    this.database = database;
    this.settings = clusterSettingsOf(scenario);
    this.#first = volumeSettingsOf(scenario);
    this.#ofVolumes = [this.#first, ...others.map(volumeSettingsOf)];
    this.apiServer = new Process(kernel);
  }

  /** Those of the first where more volumes are than scenarios. */
  of(volume: number): VolumeSettings {
    return this.#ofVolumes[volume] ?? this.#first;
  }
}

/** A duration drawn from a range. */
export const draw = ({ chance }: Pick<World, 'chance'>, range: DurationRange): number =>
  chance.within(range);

/** The first moment of a grid at or after a time. */
export const onGrid = (atUs: number, phaseUs: number, periodUs: number): number =>
  phaseUs + Math.max(0, Math.ceil((atUs - phaseUs) / periodUs)) * periodUs;
