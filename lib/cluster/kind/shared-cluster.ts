/** One cluster under several runs that share a fault event: opened once, given back by the last. */
import type { Party } from '../rendezvous.ts';
import type { Cluster } from './cluster.ts';
import type { OpenStream } from '../../engine/line-stream.ts';
import { setSchedulable } from './place.ts';
import type { ClusterChoice, ClusterRequest, OpenCluster } from './create/open-cluster.ts';
import type { Pool, PooledClusters } from './pooled-clusters.ts';
import { sharedStreams } from './observe/shared-streams.ts';

export class SharedCluster {
  readonly #clusters: PooledClusters;
  readonly #pool: Pool;
  #opening: Promise<OpenCluster> | undefined;
  readonly #users = new Set<Party>();
  /** Each of the observers' commands runs once for all. */
  readonly #openStream: OpenStream;

  /** `pool`: whose nodes the event has. */
  constructor(parties: readonly Party[], clusters: PooledClusters, pool: Pool) {
    this.#clusters = clusters;
    this.#pool = pool;
    this.#users = new Set(parties);
    this.#openStream = sharedStreams(parties.length);
  }

  /** Opened once; all databases start on the first worker, so that one fault meets them. */
  async join(party: Party, choice: ClusterChoice, request: ClusterRequest): Promise<OpenCluster> {
    this.#opening ??= this.#open(choice, request);
    const { cluster, images } = await this.#opening;
    const openStream = this.#openStream;
    return { images, cluster: { ...cluster, openStream, release: () => this.leave(party) } };
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
  async begin(party: Party, cluster: Cluster): Promise<void> {
    await party.pass('ready');
    const clients = await cluster.kube();
    await party.once('begin', () => setSchedulable(clients, cluster.nodes, true));
  }

  /** The last to leave gives the cluster back. Idempotent. */
  async leave(party: Party): Promise<void> {
    party.leave();
    this.#users.delete(party);
    if (this.#users.size > 0) return;
    const opened = await this.#opening?.catch(() => undefined);
    await opened?.cluster.release();
  }
}

/** What makes a run one of several on its cluster. */
export interface Beside {
  readonly event: Party;
  readonly shared: SharedCluster;
}
