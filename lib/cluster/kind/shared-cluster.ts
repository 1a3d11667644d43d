/** One cluster under several runs that share a fault event: opened once, given back by the last. */
import type { LineStream, OpenStream } from '../../engine/line-stream.ts';
import { spawnStream } from '../../engine/spawner.ts';
import type { Barrier } from '../barrier.ts';
import type { Cluster } from './cluster.ts';
import type { ClusterChoice, ClusterRequest, OpenCluster } from './create/open-cluster.ts';
import { setSchedulable } from './run-scope.ts';
import type { Pool, PooledClusters } from './pooled-clusters.ts';

export class SharedCluster {
  readonly #clusters: PooledClusters;
  readonly #pool: Pool;
  #opening: Promise<OpenCluster> | undefined;
  readonly #users = new Set<Barrier>();
  /** Each of the observers' commands runs once for all. */
  readonly #openStream: OpenStream;

  /** `pool`: whose nodes the event has. */
  constructor(barriers: readonly Barrier[], clusters: PooledClusters, pool: Pool) {
    this.#clusters = clusters;
    this.#pool = pool;
    this.#users = new Set(barriers);
    this.#openStream = sharedStreams(barriers.length);
  }

  /** Opened once; all databases start on the first worker, so that one fault meets them. */
  async join(
    barrier: Barrier,
    choice: ClusterChoice,
    request: ClusterRequest,
  ): Promise<OpenCluster> {
    this.#opening ??= this.#open(choice, request);
    const { cluster, images } = await this.#opening;
    const openStream = this.#openStream;
    return { images, cluster: { ...cluster, openStream, release: () => this.leave(barrier) } };
  }

  async #open(choice: ClusterChoice, request: ClusterRequest): Promise<OpenCluster> {
    const opened = await this.#clusters.join(this.#pool, choice, request);
    const { cluster } = opened;
    try {
      await setSchedulable(await cluster.kube(), cluster.nodes.slice(1), false);
      return opened;
    } catch (error) {
      // Nobody who leaves has it to give back.
      await cluster.release();
      throw error;
    }
  }

  /** From now on the other workers take pods, too. */
  async begin(barrier: Barrier, cluster: Cluster): Promise<void> {
    await barrier.pass('ready');
    const clients = await cluster.kube();
    await barrier.once('begin', () => setSchedulable(clients, cluster.nodes, true));
  }

  /** The last to leave gives the cluster back. Idempotent. */
  async leave(barrier: Barrier): Promise<void> {
    barrier.leave();
    this.#users.delete(barrier);
    if (this.#users.size > 0) return;
    const opened = await this.#opening?.catch(() => undefined);
    await opened?.cluster.release();
  }
}

/** What makes a run one of several on its cluster. */
export interface Beside {
  readonly event: Barrier;
  readonly shared: SharedCluster;
}

type OnLine = (line: string) => void;

/**
 * Commands that several observers read: each runs once, and every reader gets all of its lines.
 * A way to open streams for `readers` that ask for the same commands. A reader that comes later
 * hears from the command's beginning: the lines are kept until all readers have come.
 */
export function sharedStreams(readers: number, open: OpenStream = spawnStream): OpenStream {
  const running = new Map<string, SharedStream>();
  return async (argv, onLine) => {
    const command = JSON.stringify(argv);
    let stream = running.get(command);
    if (stream === undefined || !stream.isWhole) {
      const fresh = new SharedStream(readers, (tell) => open(argv, tell));
      const forget = (): boolean => running.get(command) === fresh && running.delete(command);
      fresh.ended.then(forget, forget);
      running.set(command, (stream = fresh));
    }
    return stream.join(onLine);
  };
}

class SharedStream {
  /** Resolves or rejects as the command's own end does. */
  readonly ended: Promise<void>;
  readonly #opened: Promise<LineStream>;
  readonly #listeners = new Set<OnLine>();
  #lines: string[] | undefined = [];
  #awaited: number;

  constructor(readers: number, open: (onLine: OnLine) => Promise<LineStream>) {
    this.#awaited = readers;
    this.#opened = open((line) => {
      this.#lines?.push(line);
      for (const listener of this.#listeners) listener(line);
    });
    this.ended = this.#opened.then(({ closed }) => closed);
  }

  /** Whether one who comes now can still be told all. */
  get isWhole(): boolean {
    return this.#lines !== undefined;
  }

  async join(onLine: OnLine): Promise<LineStream> {
    // One that hears the same by the same function twice is two readers.
    const listener: OnLine = (line) => onLine(line);
    for (const line of this.#lines ?? []) onLine(line);
    this.#listeners.add(listener);
    this.#awaited -= 1;
    if (this.#awaited === 0) this.#lines = undefined;
    const opened = await this.#opened;
    const left = Promise.withResolvers<void>();
    const closed = Promise.race([left.promise, opened.closed]);
    closed.catch(() => undefined);
    return {
      closed,
      write: (line) => opened.write(line),
      [Symbol.asyncDispose]: async () => {
        left.resolve();
        this.#listeners.delete(listener);
        if (this.#listeners.size === 0) await opened[Symbol.asyncDispose]();
      },
    };
  }
}
