/**
 * A place for trials, without a cluster: a storage network, the array, and two nodes: each a container with the
 * writer, and an initiator beside it that only the storage network reaches.
 */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InfrastructureError, projectRoot } from '../../lib/core/index.ts';
import {
  commandError,
  engine,
  label,
  labIn,
  type Lab,
  list,
  markLab,
  removeLab,
  run,
  startArray,
  start,
  startInitiator,
  tryRun,
} from '../../lib/kind/index.ts';
import { endsOf, transports, type Ends } from '../../lib/scenario/index.ts';
import {
  arrayAt,
  type ArrayPort,
  defaultRoot,
  imagePath,
  layoutOf,
  volumeFolder,
  type Layout,
} from '../../lib/storage/index.ts';
import { clearDead, loopsAbove } from '../two-kernels/lab-lease.ts';
import { nodes, volumeBytes, type NodeName } from './token.ts';

export interface LabImages {
  readonly tools: string;
  readonly array: string;
  readonly initiator: string;
  /** Of RBD only. */
  readonly ceph?: string | undefined;
}

/** So many fit side by side. */
const placeCount = 32;
const loopsPerPlace = nodes.length + 1;

interface Place {
  readonly network: string;
  readonly subnet: string;
  readonly gateway: string;
  readonly loops: { readonly first: number; readonly count: number };
  readonly container: (what: string) => string;
}

const placeAt = (index: number): Place => ({
  network: `fd-real-storage-${index}`,
  subnet: `10.240.${index}.0/24`,
  gateway: `10.240.${index}.1`,
  loops: { first: loopsAbove + index * loopsPerPlace, count: loopsPerPlace },
  container: (what) => `fd-real-storage-${index}-${what}`,
});

/** What dead runs left is gone when this resolves; it resolves to the number of places that are in use. */
export async function cleanPlaces(): Promise<number> {
  const all = Array.from({ length: placeCount }, (_, index) => placeAt(index));
  let used = 0;
  for (const place of all) if (!(await clearDead(place.container('node-a')))) used += 1;
  return used;
}

function endsIn(transport: string): Ends {
  const name = transports.find((each) => each === transport);
  const ends = name && endsOf(name);
  if (ends === undefined) throw new Error(`${transport} is not served`);
  return ends;
}

/** Image with the protocol's server. */
export const imageOf = (transport: string, images: LabImages): string =>
  images[endsIn(transport).serves ?? 'array'] ?? '';

export class StorageLab implements AsyncDisposable {
  readonly folder: string;
  readonly array: ArrayPort;
  readonly #place: Place;
  readonly #images: LabImages;
  readonly #librbdCache: boolean;
  #served: string | undefined;

  private constructor(folder: string, place: Place, images: LabImages, librbdCache: boolean) {
    this.folder = folder;
    this.#place = place;
    this.#images = images;
    this.#librbdCache = librbdCache;
    this.array = arrayAt(this.layout.arraySocket);
  }

  /** Throws InfrastructureError `NO_PLACE`. */
  static async open(images: LabImages, librbdCache = false): Promise<StorageLab> {
    // Nothing here must outlive the machine, and a disk would make others wait.
    const below = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
    const folder = await mkdtemp(join(below, 'fd-real-storage-'));
    for (let index = 0; index < placeCount; index += 1) {
      const lab = new StorageLab(folder, placeAt(index), images, librbdCache);
      if (!(await lab.#claim())) continue;
      try {
        await run(lab.#nodeCommand('b'));
        return lab;
      } catch (error) {
        await lab[Symbol.asyncDispose]();
        throw error;
      }
    }
    throw new InfrastructureError('NO_PLACE', `${placeCount} labs are already running`, {
      hint: 'wait until one of them ends',
      again: [],
    });
  }

  get layout(): Layout {
    return layoutOf(this.folder);
  }

  loopOf(node: NodeName): number {
    return this.#place.loops.first + nodes.indexOf(node);
  }

  /** Where the node's writer runs. */
  node(node: NodeName): Lab {
    return labIn(this.#place.container(`node-${node}`));
  }

  addressOf(node: NodeName): string {
    return this.#place.gateway.replace(/1$/, String(10 + nodes.indexOf(node)));
  }

  initiatorSocket(node: NodeName): string {
    return join(this.folder, 'initiators', `${node}.sock`);
  }

  /** Starts the server of that protocol, and both initiators, where another one was served last. */
  async serve(transport: string): Promise<void> {
    if (this.#served === transport) return;
    await this.stop();
    const { network, container } = this.#place;
    const { array: image } = this.#images;
    const other = imageOf(transport, this.#images);
    await startArray({
      ...{ container: container('array'), image, source: this.folder, network },
      ...{ root: defaultRoot, labels: this.#labels },
      server: other === image ? undefined : other,
    });
    this.#served = transport;
    for (const node of nodes) await this.startInitiator(node);
  }

  /** Whatever a trial left, nothing of it is there in the next one. */
  async stop(): Promise<void> {
    this.#served = undefined;
    const gone = ['initiator-a', 'initiator-b', 'array'].map(this.#place.container);
    await tryRun(engine.removeWhole(...gone));
  }

  /** Anew, where there is one: that one is killed. */
  async startInitiator(node: NodeName): Promise<void> {
    const { network, container, loops } = this.#place;
    await startInitiator({
      ...{ network, node, address: this.addressOf(node), ends: this.ends },
      ...{ container: container(`initiator-${node}`), image: this.#images.initiator },
      ...{ source: this.folder, loop: loops.first + nodes.length, labels: this.#labels },
    });
  }

  async newVolume(name: string): Promise<void> {
    await mkdir(volumeFolder(this.layout, name), { recursive: true });
    await writeFile(imagePath(this.layout, name), '');
    await truncate(imagePath(this.layout, name), volumeBytes);
  }

  cut(node: NodeName): Promise<string> {
    return run(engine.disconnect(this.#place.network, this.#initiator(node)));
  }

  heal(node: NodeName): Promise<string> {
    return run(engine.connect(this.#place.network, this.#initiator(node), this.addressOf(node)));
  }

  /** The node's processes first: while a request hangs they cannot be paused. */
  async freeze(node: NodeName): Promise<void> {
    await run(engine.pause(this.node(node).container));
    await run(engine.pause(this.#initiator(node)));
  }

  async thaw(node: NodeName): Promise<void> {
    await run(engine.unpause(this.#initiator(node)));
    await run(engine.unpause(this.node(node).container));
  }

  /** Takes the node's device, whose initiator is gone. */
  async freeLoop(node: NodeName): Promise<void> {
    const { container } = this.node(node);
    await tryRun(engine.exec(container, 'losetup', '--detach', `/dev/loop${this.loopOf(node)}`));
  }

  /** Ends what hangs, too. */
  async killInitiator(node: NodeName): Promise<void> {
    await tryRun(engine.remove(this.#initiator(node)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { folder } = this;
    const containers = await list('container', [`${label.state}=${folder}`]);
    await removeLab({ containers, folder, loops: this.#place.loops, tools: this.#images.tools });
  }

  #initiator(node: NodeName): string {
    return this.#place.container(`initiator-${node}`);
  }

  get ends(): Ends {
    const ends = endsIn(this.#served ?? 'nothing');
    if (!this.#librbdCache) return ends;
    // QEMU turns librbd's cache off where it passes its own by.
    const connect: Ends['connect'] = (...to) =>
      ends.connect(...to).replace('cache.direct=on', 'cache.direct=off');
    return { ...ends, connect };
  }

  get #labels(): readonly string[] {
    return markLab({ folder: this.folder, loops: this.#place.loops, tools: this.#images.tools });
  }

  /** By the name of its first container: the engine refuses a second one. */
  async #claim(): Promise<boolean> {
    const { network, container } = this.#place;
    const first = container('node-a');
    if (!(await clearDead(first))) return false;
    const argv = this.#nodeCommand('a');
    const started = await tryRun(argv);
    if (started.exitCode !== 0) {
      if (started.stderr.includes('already in use')) return false;
      throw commandError(argv, started);
    }
    // A network of that name is a dead one's; the engine keeps one for good whose container it lost.
    await tryRun(engine.removeNetwork(network));
    const flags = ['--internal', ...this.#labels];
    const { exitCode } = await tryRun(engine.createNetwork(network, this.#place, flags));
    if (exitCode === 0) return true;
    await run(engine.removeWhole(first));
    return false;
  }

  #nodeCommand(node: NodeName): string[] {
    const name = this.#place.container(`node-${node}`);
    const main = 'mount -t devtmpfs devtmpfs /dev && exec sleep infinity';
    const flags = [
      ...['--init', '--name', name, ...this.#labels, '--privileged', '--network', 'none'],
      ...['--volume', `${projectRoot}:/app:ro`, '--workdir', '/app', '--entrypoint', 'sh'],
    ];
    return start(flags, this.#images.tools, '-c', main);
  }
}
