/**
 * Clusters under several fault events at once. Each event has a pool of nodes to itself, its victim
 * and where the successor starts; all share a control plane. At most one node of a pool is lost at a
 * time, so more than half of a zone's nodes stay Ready and no eviction stops (lib/core/kubernetes.ts).
 */
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
    const settings = clusterFields.map((field) => request.scenario[field]);
    const key = JSON.stringify([pool.of, ...settings]);
    for (;;) {
      request.signal.throwIfAborted();
      const found = this.#shared.get(name);
      if (found === undefined) return this.#first(name, key, pool, choice, request);
      const opened = found.key === key ? await found.opening.catch(() => undefined) : undefined;
      if (opened !== undefined && this.#shared.get(name) === found) {
        found.users += 1;
        return this.#enter(name, found, opened, pool, request);
      }
      await found.closed.promise;
    }
  }

  async #first(
    name: string,
    key: string,
    pool: Pool,
    choice: ClusterChoice,
    request: ClusterRequest,
  ): Promise<OpenCluster> {
    const opening = this.#open(choice, request);
    const shared = { key, opening, closed: Promise.withResolvers<void>(), users: 1 };
    this.#shared.set(name, shared);
    try {
      const { cluster, images } = await opening;
      return { images, cluster: this.#poolOf(name, shared, cluster, pool) };
    } catch (error) {
      this.#shared.delete(name);
      shared.closed.resolve();
      throw error;
    }
  }

  async #enter(
    name: string,
    shared: Shared,
    { cluster, images }: OpenCluster,
    pool: Pool,
    { signal }: ClusterRequest,
  ): Promise<OpenCluster> {
    const own = this.#poolOf(name, shared, cluster, pool);
    try {
      await this.#mend(own, signal);
      return { images, cluster: own };
    } catch (error) {
      await own.release();
      throw error;
    }
  }

  #poolOf(name: string, shared: Shared, cluster: Cluster, { number, of }: Pool): Cluster {
    const size = cluster.nodes.length / of;
    let left: Promise<void> | undefined;
    return {
      ...cluster,
      pool: number,
      nodes: cluster.nodes.slice((number - 1) * size, number * size),
      release: () => (left ??= this.#leave(name, shared, cluster)),
    };
  }

  async #leave(name: string, shared: Shared, cluster: Cluster): Promise<void> {
    shared.users -= 1;
    if (shared.users > 0) return;
    try {
      await cluster.release();
    } finally {
      this.#shared.delete(name);
      shared.closed.resolve();
    }
  }
}

/** Another event may have had these nodes before. */
async function mendPool(pool: Cluster, signal: AbortSignal): Promise<void> {
  const clients = await pool.kube();
  await restoreNodes(pool);
  await unmarkNodes(clients, pool.nodes);
  await nodesReady(clients, 60_000, signal, pool.nodes);
}
