/** The cluster a run works on: found or made, locked while in use, removed unless it is kept. */
import { clusterNameRule, isClusterName } from '../../cluster-name.ts';
import { describeError, InfrastructureError, UsageError } from '../../errors.ts';
import type { ImageSet } from '../../images/image-set.ts';
import type { FeatureGates } from '../../kubernetes-versions.ts';
import { configHash, type ForceDetach } from './create/cluster-config.ts';
import { createCluster, type CreateOptions, type Standing } from './create/create-cluster.ts';
import { deployDriver } from './create/driver.ts';
import type { KubeClients } from '../../kube.ts';
import type { Lab } from './disk/lab.ts';
import { engineName, type ClusterLabels } from './ownership/labels.ts';
import type { OpenStream } from '../../engine/line-stream.ts';
import { LeaseHold } from './ownership/lease-hold.ts';
import { lockCluster, type Lock } from './ownership/lock.ts';
import { KindMachine } from './nodes/machine.ts';
import { currentOwner, ownerState } from '../../owner.ts';
import { mustPass } from './preflight.ts';
import { reap } from './ownership/reap.ts';
import { findCluster, refuseForeign } from './ownership/registry.ts';
import { Relays } from './clients/relay.ts';
import { removeCluster } from './ownership/remove-cluster.ts';
import { reviveCluster } from './create/revive-cluster.ts';
import { spawnStream } from '../../engine/run.ts';
import { markComplete } from './ownership/state-dir.ts';
import { clusterTimers, stockClusterTimers, type ClusterTimers } from '../timers.ts';

export const defaultClusterName = 'main';

export interface ClusterOptions {
  /** Lower-case letters, digits, dots and dashes, at most 30. Default `main`. */
  readonly name?: string;
  readonly images: ImageSet;
  /** Path of the kind binary. */
  readonly kind: string;
  readonly runId: string;
  /** Default 2. */
  readonly workers?: number;
  /** node-monitor-grace-period. Default stock: 50 000. */
  readonly graceMs?: number;
  /** Default stock: 360 000. Anything else needs images with `tunableForceDetach`. */
  readonly forceDetachAfterMs?: number;
  /** `off`: --disable-force-detach-on-timeout. Default `on`, as stock. */
  readonly forceDetach?: ForceDetach;
  /** Gates of all components, by name. Default: none is set. */
  readonly featureGates?: FeatureGates;
  /** The cluster outlives the run, and the process. Default false. */
  readonly keep?: boolean;
  readonly onProgress?: (line: string) => void;
  readonly signal?: AbortSignal;
}

export interface Cluster {
  readonly name: string;
  /** The lease's. */
  readonly index: number;
  readonly loops: { readonly first: number; readonly count: number };
  readonly controlPlane: string;
  /** The workers; of a cluster in pools, those of the own pool. */
  readonly nodes: readonly string[];
  /** From 1: which of the cluster's pools of nodes this is (pooled-clusters.ts). */
  readonly pool: number;
  /** Node, control plane included → IPv4 address on the cluster's network. */
  readonly addresses: ReadonlyMap<string, string>;
  readonly kubeconfigPath: string;
  readonly timers: ClusterTimers;
  /** False when it was made for this run. */
  readonly reused: boolean;
  /** It outlives the run. */
  readonly kept: boolean;
  readonly lab: Lab;
  /** How observers read commands that talk in lines: volumes beside each other share them. */
  readonly openStream: OpenStream;
  readonly relays: Relays;
  /** Relays that one of several volumes opens and closes for itself. */
  newRelays(): Relays;
  machine(node: string): KindMachine;
  kube(): Promise<KubeClients>;
  /** Removes the cluster unless it is kept, and gives the lock back. Idempotent. */
  release(): Promise<void>;
}

/**
 * A cluster of this name and configuration, with the CSI driver running. One of ours with another
 * configuration is replaced; one that is not ours is refused (`CLUSTER_FOREIGN`), and so is one
 * that another run uses (`CLUSTER_BUSY`). After an error or an abort nothing is left.
 */
export async function ensureCluster(options: ClusterOptions): Promise<Cluster> {
  const { name = defaultClusterName, onProgress = () => undefined } = options;
  checkOptions(options, name);
  await mustPass(name);
  const lock = await lockCluster(name, options.runId, { onProgress });
  const hold = new LeaseHold(`run ${options.runId}, process ${process.pid}`);
  try {
    const found = await findCluster(name);
    await refuseForeign(name, found);
    refuseOthers(found?.labels);
    await reap({ onProgress });
    const create = createOptions(options, name, { hold, onProgress });
    const revived = await reviveCluster(create);
    const standing = revived ?? (await replaceCluster(create));
    return clusterOf(standing, create, lock, revived !== undefined);
  } catch (error) {
    await hold.release();
    await lock.release();
    throw error;
  }
}

/**
 * The lock tells only of this user's processes on this host. Throws InfrastructureError `CLUSTER_BUSY`
 * where another one made the cluster and lives, or cannot be seen from here.
 */
function refuseOthers(labels: ClusterLabels | undefined): void {
  if (labels === undefined) return;
  const { cluster, owner, keep } = labels;
  const state = owner === undefined ? 'unknown' : ownerState(owner);
  const isOwn = owner?.pid === process.pid;
  if (state === 'dead' || (state === 'alive' && (keep || isOwn))) return;
  const who =
    state === 'alive'
      ? `process ${owner?.pid}`
      : 'a process that is not visible from here (another host, user or container)';
  throw new InfrastructureError('CLUSTER_BUSY', `the cluster \`${cluster}\` belongs to ${who}`, {
    hint: 'use another cluster (--cluster-name), or remove this one if it is unused',
    command: `npx zx experiments/clean.mjs --all --cluster-name ${cluster}`,
  });
}

function checkOptions(options: ClusterOptions, name: string): void {
  if (!isClusterName(name)) {
    throw new UsageError('CLUSTER_NAME', `\`${name}\` is not a valid cluster name`, {
      hint: `use ${clusterNameRule}`,
      again: ['--cluster-name', 'main'],
    });
  }
  const { forceDetachAfterMs = stockClusterTimers.forceDetachAfterMs, images } = options;
  if (!images.tunableForceDetach && forceDetachAfterMs !== stockClusterTimers.forceDetachAfterMs) {
    throw new UsageError(
      'FORCE_DETACH_FIXED',
      'the published controller manager always waits 6 min before a forced detach',
      { hint: 'use built images, or omit --force-detach-after', again: ['--images', 'built'] },
    );
  }
}

function createOptions(
  options: ClusterOptions,
  name: string,
  told: Pick<CreateOptions, 'hold' | 'onProgress'>,
): CreateOptions {
  const { images, kind, runId, workers = 2, forceDetach = 'on', keep = false, signal } = options;
  const { featureGates = {} } = options;
  const { nodeMonitorGraceMs, forceDetachAfterMs } = stockClusterTimers;
  const timers = clusterTimers({
    graceMs: options.graceMs ?? nodeMonitorGraceMs,
    forceDetachAfterMs: options.forceDetachAfterMs ?? forceDetachAfterMs,
  });
  const labels = {
    cluster: name,
    runId,
    configHash: configHash({ images, workers, timers, forceDetach, featureGates }),
    owner: currentOwner(),
    keep,
    tools: images.tools,
  };
  const made = { images, kind, workers, timers, forceDetach, featureGates };
  return { ...made, ...told, labels, signal };
}

/** A new cluster in the place of whatever has the name; on failure nothing is left. */
async function replaceCluster(options: CreateOptions): Promise<Standing> {
  const { onProgress, labels, signal } = options;
  signal?.throwIfAborted();
  await dropCluster(options);
  try {
    const standing = await createCluster(options);
    await deployDriver({ ...options, standing, present: options.images.creation.has });
    await markComplete(standing.state);
    return standing;
  } catch (error) {
    onProgress(`removing the cluster ${labels.cluster}`);
    await dropCluster(options).catch((second: unknown) => {
      onProgress(`could not remove it; the next run will retry: ${describeError(second)}`);
    });
    throw error;
  }
}

/** Throws `CLUSTER_BUSY` where somebody else, on another host, has made one of that name by now. */
async function dropCluster({ labels, hold, onProgress }: CreateOptions): Promise<void> {
  const found = await findCluster(labels.cluster);
  if (found === undefined) return;
  refuseOthers(found.labels);
  for (const left of await removeCluster(found, hold)) onProgress(`could not remove: ${left}`);
}

function clusterOf(
  standing: Standing,
  options: CreateOptions,
  lock: Lock,
  reused: boolean,
): Cluster {
  const { labels, lease, state, lab, nodes, clients } = standing;
  const [first, ...workers] = nodes;
  if (first === undefined) throw new InfrastructureError('NO_NODES', 'the cluster has no nodes');
  const controlPlane = first.node;
  const relays = new Relays(lab, state.sockets);
  const network = engineName(labels.cluster);
  const machines = new Map(
    nodes.map((self) => {
      const options = { self, all: nodes, controlPlane, network, lab: lab.container, lease };
      return [self.node, new KindMachine(options)];
    }),
  );
  let released: Promise<void> | undefined;
  const release = async (): Promise<void> => {
    try {
      await relays.closeAll();
      if (!labels.keep) await dropCluster(options);
    } finally {
      await options.hold.release();
      await lock.release();
    }
  };
  return {
    name: labels.cluster,
    index: lease.index,
    loops: lease.loops,
    controlPlane,
    nodes: workers.map(({ node }) => node),
    pool: 1,
    addresses: new Map(nodes.map(({ node, ip }) => [node, ip])),
    kubeconfigPath: state.kubeconfig,
    timers: options.timers,
    ...{ reused, kept: labels.keep, lab },
    openStream: spawnStream,
    relays,
    newRelays: () => new Relays(lab, state.sockets),
    machine(node) {
      const machine = machines.get(node);
      if (machine !== undefined) return machine;
      const hint = `the nodes are ${[...machines.keys()].join(', ')}`;
      throw new UsageError('NO_SUCH_NODE', `there is no node ${node}`, { hint });
    },
    kube: () => Promise.resolve(clients),
    release: () => (released ??= release()),
  };
}
