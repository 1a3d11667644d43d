/** The Recovery port inside a container of the tools image, with loop devices of its own. */
import { rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { PlannedState } from '../../../crash-states/plan.ts';
import type { Recovered, RecoverOptions, Recovery } from '../../../crash-states/recovery.ts';
import { EvidenceError } from '../../../errors.ts';
import { recoverImage } from '../../../database/recover.ts';
import { CrashVolume } from './crash-volume.ts';
import type { BuiltState, RollingImage } from './rolling-image.ts';

export interface ContainerRecoveryOptions {
  readonly rolling: RollingImage;
  /** Numbers of loop devices that nobody else uses: one a worker. */
  readonly loops: readonly number[];
  /** Directory of the states' images, each about as large as what the database has written. */
  readonly directory: string;
  /** The run's seed. */
  readonly runSeed: string;
  /** Keeps the image as the loss of power left it there. Default: it is gone after its reading. */
  readonly keepAt?: string | undefined;
  readonly signal: AbortSignal;
}

export class ContainerRecovery implements Recovery {
  readonly #options: ContainerRecoveryOptions;
  readonly #freeLoops: number[];
  /** The end of the last build that was asked for: one at a time moves the rolling image on. */
  #built: Promise<unknown> = Promise.resolve();

  constructor(options: ContainerRecoveryOptions) {
    this.#options = options;
    this.#freeLoops = [...options.loops];
  }

  get workers(): number {
    return this.#options.loops.length;
  }

  async recover(state: PlannedState, options: RecoverOptions): Promise<Recovered> {
    const { directory, runSeed, signal } = this.#options;
    const image = join(directory, `${state.number}.img`);
    const loop = this.#freeLoops.pop();
    if (loop === undefined) throw new RangeError('more states at a time than workers');
    const startedMs = performance.now();
    try {
      const built = await this.#build(state, image);
      const buildMs = Math.round(performance.now() - startedMs);
      const volume = new CrashVolume(image, loop, signal);
      const evidence = await recoverImage({ volume, runSeed, signal, ...options });
      neededRoom(await statfs(directory));
      const durationsMs = { build: buildMs, ...evidence.durationsMs };
      return { ...built, evidence: { ...evidence, durationsMs } };
    } finally {
      await rm(image, { force: true });
      this.#freeLoops.push(loop);
    }
  }

  #build(state: PlannedState, image: string): Promise<BuiltState> {
    const { rolling, keepAt } = this.#options;
    const building = this.#built.then(async () => {
      if (keepAt !== undefined) await rolling.build(state, keepAt);
      return rolling.build(state, image);
    });
    this.#built = building.catch(() => undefined);
    return building;
  }
}

/** What a database may still write while its image is looked at. */
const roomBytes = 64 * 1024 ** 2;

/** Throws where the images' place is full: a recovery that ran out of room looks like a bad disk. */
export function neededRoom({ bavail, bsize }: Readonly<Record<'bavail' | 'bsize', number>>): void {
  const freeBytes = bavail * bsize;
  if (freeBytes >= roomBytes) return;
  throw new EvidenceError('IMAGES_FULL', `${freeBytes} bytes are left for the states' images`, {
    hint: 'They are kept in memory: look at fewer states at a time, or at a shorter run.',
  });
}
