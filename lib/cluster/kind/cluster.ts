/** The cluster a run works on: found or made, locked while in use, removed unless it is kept. */
import { describeError, InfrastructureError, UsageError } from '../../errors.ts';
import type { ImageSet } from '../../images/image-set.ts';
import type { FeatureGates } from '../../kubernetes-versions.ts';
import { configHash } from './cluster-config.ts';
import { createCluster, type CreateOptions, type Standing } from './create-cluster.ts';
import { deployDriver } from './driver.ts';
import type { ForceDetach } from './kind-config.ts';
import type { KubeClients } from './kube.ts';
import type { Lab } from './lab-port.ts';
import { clusterNameRule, engineName, isClusterName } from './labels.ts';
import type { OpenStream } from './lab-stream.ts';
import { lockCluster, type Lock } from './lock.ts';
import { KindMachine } from './machine.ts';
import { currentOwner } from './owner.ts';
import { mustPass } from './preflight.ts';
import { reap } from './reap.ts';
import { findCluster, refuseForeign, removeCluster } from './registry.ts';
import { Relays } from './relay.ts';
import { reviveCluster } from './revive-cluster.ts';
import { spawnStream } from './spawned.ts';
import { markComplete } from './state-dir.ts';
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
  /** Of all components, by name. Default: none is set. */
  readonly featureGates?: FeatureGates;
  /** The cluster outlives the run, and the process. Default false. */
  readonly keep?: boolean;
  readonly onProgress?: (line: string) => void;
  readonly signal?: AbortSignal;
}

export interface Cluster {
  readonly name: string;
  /** Of the lease. */
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
  readonly lab: Lab;
  /** How observers read commands that talk in lines: runs beside each other share them. */
  readonly openStream: OpenStream;
  readonly relays: Relays;
  /** Relays that one of several runs opens and closes for itself. */
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
  const lock = await lockCluster(name, options.runId);
  try {
    await refuseForeign(name, await findCluster(name));
    await reap({ onProgress });
    const create = createOptions(options, name, onProgress);
    const revived = await reviveCluster(create);
    const standing = revived ?? (await replaceCluster(create));
    return clusterOf(standing, create.timers, lock, revived !== undefined);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

function checkOptions(options: ClusterOptions, name: string): void {
  if (!isClusterName(name)) {
    throw new UsageError('CLUSTER_NAME', `\`${name}\` cannot name a cluster`, {
      hint: `use ${clusterNameRule}`,
    });
  }
  const { forceDetachAfterMs = stockClusterTimers.forceDetachAfterMs, images } = options;
  if (!images.tunableForceDetach && forceDetachAfterMs !== stockClusterTimers.forceDetachAfterMs) {
    throw new UsageError(
      'FORCE_DETACH_FIXED',
      'the published controller manager waits 6 min before a forced detach, always',
      { hint: 'use --images built, or leave --force-detach-after away' },
    );
  }
}

function createOptions(
  options: ClusterOptions,
  name: string,
  onProgress: (line: string) => void,
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
  return { ...made, labels, onProgress, signal };
}

/** A new cluster in the place of whatever has the name; on failure nothing is left. */
async function replaceCluster(options: CreateOptions): Promise<Standing> {
  const { onProgress, labels, signal } = options;
  signal?.throwIfAborted();
  await dropCluster(labels.cluster);
  try {
    const standing = await createCluster(options);
    await deployDriver({ ...options, standing });
    await markComplete(standing.state);
    return standing;
  } catch (error) {
    onProgress(`removing the cluster ${labels.cluster} again`);
    await dropCluster(labels.cluster).catch((second: unknown) => {
      onProgress(`it resists, and the next start removes it: ${describeError(second)}`);
    });
    throw error;
  }
}

async function dropCluster(name: string): Promise<void> {
  const found = await findCluster(name);
  if (found !== undefined) await removeCluster(found);
}

function clusterOf(
  standing: Standing,
  timers: ClusterTimers,
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
    await relays.closeAll();
    if (!labels.keep) await dropCluster(labels.cluster);
    await lock.release();
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
    timers,
    reused,
    lab,
    openStream: spawnStream,
    relays,
    newRelays: () => new Relays(lab, state.sockets),
    machine(node) {
      const machine = machines.get(node);
      if (machine === undefined) throw new UsageError('NO_SUCH_NODE', `there is no node ${node}`);
      return machine;
    },
    kube: () => Promise.resolve(clients),
    release: () => (released ??= release()),
  };
}
