/** The backend `kind`: images, a cluster of our own, and testbeds on it, with one server each or with a group. */
import pLimit from 'p-limit';
import { type LineStream, type OpenStream, openStream } from './engine/run.ts';
import {
  type Cluster,
  type ClusterChoice,
  clusterFields,
  type ClusterRequest,
  openCluster,
  type OpenCluster,
} from './cluster.ts';
import { nodesReady } from './create/create-cluster.ts';
import { restoreNodes, unmarkNodes } from './undo-remedies.ts';
import { groupSize, valueAt } from '../scenario/index.ts';
import { type KubeClients, type RealClock, realClock } from '../core/index.ts';
import type { Backend, OpenedCluster, Testbed, TestbedOptions } from '../run/index.ts';
import { setSchedulable } from './database.ts';
import { scopeBeside, soleScope } from './scope.ts';
import { openGroupTestbed } from './group/group-testbed.ts';
import { breakable, type KindTestbed, openKindTestbed } from './testbed.ts';

type OnLine = (line: string) => void;

/**
 * A way to open streams for `readers` that ask for the same commands: every one gets all lines. One that comes later
 * hears from the command's beginning: the lines are kept until all readers have come.
 */
export function sharedStreams(readers: number, open: OpenStream = openStream): OpenStream {
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

/*
 * Clusters under several fault events at once. Each event has a pool of nodes to itself, its victim
 * and where the successor starts; all share a control plane. At most one node of a pool is lost at a
 * time, so more than half of a zone's nodes stay Ready and no eviction stops (lib/core/kubernetes.ts).
 */

/** One of several groups of workers of a cluster. */
export interface Pool {
  /** From 1. */
  readonly number: number;
  /** Pools of the cluster, which share its workers evenly. */
  readonly of: number;
}

interface Shared {
  /** Key of the settings that a cluster is made with. */
  readonly key: string;
  readonly opening: Promise<OpenCluster>;
  /** Resolves when the last event has given it back. */
  readonly closed: PromiseWithResolvers<void>;
  users: number;
}

export class PooledClusters {
  readonly #open: typeof openCluster;
  readonly #mend: typeof mendPool;
  /** By the cluster's name. */
  readonly #shared = new Map<string, Shared>();

  constructor(open: typeof openCluster = openCluster, mend: typeof mendPool = mendPool) {
    this.#open = open;
    this.#mend = mend;
  }

  /**
   * A cluster with this pool's nodes only. The first event opens it, the last to release it gives it
   * back. One that needs another version or other timers waits until then; one whose opener failed
   * opens it anew.
   */
  async join(pool: Pool, choice: ClusterChoice, request: ClusterRequest): Promise<OpenCluster> {
    const name = choice.clusterName ?? '';
    const settings = clusterFields.map((field) => valueAt(request.scenario, field));
    const key = JSON.stringify([pool.of, ...settings]);
    for (;;) {
      request.signal.throwIfAborted();
      const found = this.#shared.get(name);
      if (found === undefined) return this.#first(name, key, pool, choice, request);
      const opened = found.key === key ? await found.opening.catch(() => undefined) : undefined;
      if (opened !== undefined && this.#shared.get(name) === found) {
        found.users += 1;
        const own = this.#poolOf(name, found, opened, pool);
        await this.#mend(own.cluster, request.signal).catch(async (error: unknown) => {
          await own.cluster.release();
          throw error;
        });
        return own;
      }
      await found.closed.promise;
    }
  }

  async #first(
    name: string,
    key: string,
    pool: Pool,
    ...asked: Parameters<typeof openCluster>
  ): Promise<OpenCluster> {
    const opening = this.#open(...asked);
    const shared = { key, opening, closed: Promise.withResolvers<void>(), users: 1 };
    this.#shared.set(name, shared);
    try {
      return this.#poolOf(name, shared, await opening, pool);
    } catch (error) {
      this.#forget(name, shared);
      throw error;
    }
  }

  #poolOf(
    name: string,
    shared: Shared,
    { cluster, images }: OpenCluster,
    { number, of }: Pool,
  ): OpenCluster {
    const size = cluster.nodes.length / of;
    const nodes = cluster.nodes.slice((number - 1) * size, number * size);
    let left: Promise<void> | undefined;
    const release = (): Promise<void> => (left ??= this.#leave(name, shared, cluster));
    return { images, cluster: { ...cluster, pool: number, nodes, release } };
  }

  async #leave(name: string, shared: Shared, cluster: Cluster): Promise<void> {
    shared.users -= 1;
    if (shared.users > 0) return;
    await cluster.release().finally(() => this.#forget(name, shared));
  }

  #forget(name: string, { closed }: Shared): void {
    this.#shared.delete(name);
    closed.resolve();
  }
}

/** Another event may have had these nodes before. */
async function mendPool(pool: Cluster, signal: AbortSignal): Promise<void> {
  const clients = await pool.kube();
  await restoreNodes(pool);
  await unmarkNodes(clients, pool.nodes);
  await nodesReady(clients, 60_000, signal, pool.nodes);
}

/** The nodes that a run has of a cluster which others use, too. */
export interface PoolChoice {
  readonly clusters: PooledClusters;
  readonly pool: Pool;
}

/** `pooled`: the cluster is shared with other runs. Default: the run has one of its own. */
export function kindBackend(choice: ClusterChoice = {}, pooled?: PoolChoice): Backend {
  const clock = realClock();
  return {
    backend: 'kind',
    isModel: false,
    clock,
    async open(volumes) {
      const [first] = volumes;
      if (first === undefined) throw new RangeError('a run has at least one volume');
      const opened = await (pooled === undefined
        ? openCluster(choice, first)
        : pooled.clusters.join(pooled.pool, choice, first));
      const isShared = pooled !== undefined || volumes.length > 1;
      return openKindVolumes(volumes, { ...opened, clock, isShared });
    },
    async openGroup(request) {
      const { workers = groupSize } = choice;
      const opened = await openCluster({ ...choice, workers }, request);
      return openGroupTestbed({ ...request, ...opened, clock });
    },
  };
}

/** Takes the cluster over: closing releases it, and so does an error here. */
export async function openKindVolumes(
  volumes: readonly TestbedOptions[],
  // `isShared`: other volumes are on the cluster, of this run or of others.
  { cluster, images, clock, isShared }: OpenCluster & { clock: RealClock; isShared: boolean },
): Promise<OpenedCluster<Testbed>> {
  // Undone in reverse order, each step whatever becomes of the others.
  await using opening = new AsyncDisposableStack();
  opening.defer(() => cluster.release());
  const clients = await cluster.kube();
  const auditsInTurn = pLimit(1);
  const own = isShared ? { ...cluster, openStream: sharedStreams(volumes.length) } : cluster;
  const open = (volume: TestbedOptions, index: number): Promise<KindTestbed> => {
    const place = {
      scope: isShared ? scopeBeside(volume.database, volume.runId) : soleScope(volume.database),
      isShared,
      copyLabel: (image: string) => (isShared ? `${cluster.pool}-${index + 1}-${image}` : image),
      auditsInTurn,
    };
    return openKindTestbed({ ...volume, images, clock, place, cluster: own });
  };
  const opened = await startedTogether(clients, cluster, isShared, () =>
    Promise.allSettled(volumes.map(open)),
  );
  opening.defer(() => closeAll(opened));
  // What goes with the cluster need not be mended before it.
  if (cluster.kept || isShared) opening.defer(() => restoreNodes(cluster));
  const all = opening.move();
  return {
    cluster: breakable(cluster, clients, clock),
    volumes: opened,
    close: () => all.disposeAsync(),
  };
}

/** Beside others all start on the first worker, so that one fault meets them; the other workers take pods once they are there. */
async function startedTogether<T>(
  clients: KubeClients,
  { nodes }: Cluster,
  isShared: boolean,
  start: () => Promise<T>,
): Promise<T> {
  if (!isShared) return start();
  await setSchedulable(clients, nodes.slice(1), false);
  try {
    return await start();
  } finally {
    await setSchedulable(clients, nodes, true);
  }
}

/** Side by side. Rejects with all that could not be removed. */
async function closeAll(opened: readonly PromiseSettledResult<KindTestbed>[]): Promise<void> {
  const there = opened.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  const closed = await Promise.allSettled(there.map((testbed) => testbed.close()));
  const reasons = closed.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  if (reasons.length === 0) return;
  throw reasons.reduce((failure, reason) => new SuppressedError(reason, failure));
}
