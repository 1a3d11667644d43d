/**
 * What a volume may go through without harm: every way in which a healthy disk, one server at a
 * time and stock durability leave a database. Each story ends with the volume as it is to be copied.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../lib/core/time.ts';
import type { Filesystem } from '../../lib/scenario/disk-kinds.ts';
import { ackedIn } from '../../test/support/bare-images.ts';
import type { WriterRecord } from '../../lib/run/workload.ts';
import type { BareDisk, BareVolume } from '../../test/cluster/bare-volume.ts';
import type { BareServer, Written } from '../../test/cluster/bare-server.ts';

export interface Load {
  readonly filesystem: Extract<Filesystem, 'ext4' | 'xfs'>;
  readonly connections: number;
  readonly rate: number | 'max';
  /** Acknowledged commits before anything is done to the server. */
  readonly commits: number;
}

const loads: readonly Load[] = (['ext4', 'xfs'] as const).flatMap((filesystem) => [
  { filesystem, connections: 1, rate: 'max', commits: 100 },
  { filesystem, connections: 4, rate: 'max', commits: 300 },
  { filesystem, connections: 8, rate: 100, commits: 100 },
  { filesystem, connections: 16, rate: 'max', commits: 1000 },
  { filesystem, connections: 32, rate: 'max', commits: 2000 },
]);

/** One volume's life: its servers follow each other, each with clients of its own. */
export class Life {
  readonly records: WriterRecord[] = [];
  readonly #volume: BareVolume;
  readonly #clock: Clock;
  readonly #seed: string;
  readonly #load: Load;
  #disk: BareDisk | undefined;
  #server: BareServer | undefined;
  #writer: Written | undefined;
  #turns = 0;

  constructor(volume: BareVolume, clock: Clock, seed: string, load: Load) {
    this.#volume = volume;
    this.#clock = clock;
    this.#seed = seed;
    this.#load = load;
  }

  /** Attaches where nothing is, and writes under load until something is done to it. */
  async serve(node: 'a' | 'b'): Promise<void> {
    this.#disk ??= await this.#volume.attach(node);
    this.#server = await this.#disk.startServer('--sync-binlog=1');
    const { connections, rate, commits } = this.#load;
    const client = node === 'a' ? 'inside' : 'outside';
    const firstSession = 100_000 * this.#turns++;
    const spec = { client, connections, rate } as const;
    const writer = this.#server.write(spec, this.#seed, this.#clock, firstSession);
    this.#writer = writer;
    while (ackedIn(writer.records) < commits) await sleep(20);
  }

  async freeze(): Promise<void> {
    await this.#server?.signal('STOP');
  }

  /** The server dies with its clients at work. */
  async kill(): Promise<void> {
    await this.#server?.kill();
    await this.#stopWriting();
  }

  async stop(): Promise<void> {
    await this.#stopWriting();
    await this.#server?.stop();
  }

  /** Clean shutdown with the clients at work. */
  async stopUnderLoad(): Promise<void> {
    await this.#server?.stop();
    await this.#stopWriting();
  }

  /** What the kernel had not written is gone, as when the machine loses power. */
  async losePower(): Promise<void> {
    await this.freeze();
    await this.#disk?.cut();
    await this.kill();
    await this.detach();
  }

  async detach(): Promise<void> {
    await this.#disk?.detach();
    this.#disk = undefined;
  }

  /** Whatever still runs or is attached. */
  async end(): Promise<void> {
    if (this.#disk === undefined) return;
    await this.#server?.signal('CONT').catch(() => undefined);
    await this.kill();
    await this.detach();
  }

  async #stopWriting(): Promise<void> {
    await this.#writer?.stop();
    this.records.push(...(this.#writer?.records ?? []));
    this.#writer = undefined;
  }
}

export const stories: Readonly<Record<string, (life: Life) => Promise<void>>> = {
  'copied while it writes': async (life) => {
    await life.serve('a');
    await life.freeze();
  },
  'clean stop': async (life) => {
    await life.serve('a');
    await life.stop();
    await life.detach();
  },
  'kill -9 under load': async (life) => {
    await life.serve('a');
    await life.kill();
  },
  'kill -9, restarted, stopped under load': async (life) => {
    await life.serve('a');
    await life.kill();
    await life.serve('a');
    await life.stopUnderLoad();
    await life.detach();
  },
  'power loss': async (life) => {
    await life.serve('a');
    await life.losePower();
  },
  'power loss, moved, copied while it writes': async (life) => {
    await life.serve('a');
    await life.losePower();
    await life.serve('b');
    await life.freeze();
  },
  'moved twice, kill -9': async (life) => {
    await life.serve('a');
    await life.stop();
    await life.detach();
    await life.serve('b');
    await life.stopUnderLoad();
    await life.detach();
    await life.serve('a');
    await life.kill();
  },
};

export interface Planned {
  readonly key: string;
  readonly story: string;
  readonly load: Load;
}

/** Stories and loads in turns: both counts have no common divisor, so all pairs come. */
export function planned(count: number): Planned[] {
  const names = Object.keys(stories);
  return Array.from({ length: count }, (_, n) => {
    const story = names[n % names.length] ?? '';
    const load = loads[n % loads.length];
    if (load === undefined) throw new Error('there are loads');
    return { key: `${String(n + 1).padStart(3, '0')} ${story}`, story, load };
  });
}
