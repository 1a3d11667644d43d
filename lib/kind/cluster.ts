/** The cluster a run works on: found or made, locked while in use, removed unless it is kept. */
import {
  clusterNameRule,
  isClusterName,
  describeError,
  InfrastructureError,
  UsageError,
  type KubeClients,
  type FeatureGates,
  type Lock,
  currentOwner,
  ownerState,
  type ImageSource,
} from '../core/index.ts';
import {
  type Database,
  kindWorkers,
  type TestbedOptions,
  type ClusterTimers,
  clusterTimers,
  stockClusterTimers,
} from '../run/index.ts';
import * as engine from './engine/commands.ts';
import { type OpenStream, openStream, putTimersFirst, tryRun } from './engine/run.ts';
import { imagesBeside, type Scenario, type FieldName, type Transport } from '../scenario/index.ts';
import { ensureImages, ensureKind } from './images/ensure.ts';
import type { ImageSet } from './images/image-plan.ts';
import { Relays } from './clients/writers.ts';
import {
  createCluster,
  type CreateOptions,
  machinesOf,
  type Standing,
} from './create/create-cluster.ts';
import { deployDriver } from './create/driver.ts';
import { configHash, type ForceDetach, type NodeShutdown } from './create/kind-config.ts';
import { reviveCluster } from './create/revive-cluster.ts';
import type { Lab } from './disk/containers.ts';
import type { StorageNetwork } from './disk/disk.ts';
import type { KindMachine } from './nodes/machine.ts';
import {
  type ClusterLabels,
  findCluster,
  refuseForeign,
  markComplete,
} from './ownership/registry.ts';
import { LeaseHold, lockCluster } from './ownership/lease.ts';
import { isLeftOver, reap, removeCluster } from './ownership/reap.ts';
import { mustPass } from './preflight.ts';

export interface Cluster {
  /** Whose servers run there. */
  readonly database: Database;
  readonly name: string;
  readonly index: number;
  readonly loops: { readonly first: number; readonly count: number };
  readonly controlPlane: string;
  /** The workers; of a cluster in pools, those of the own pool. */
  readonly nodes: readonly string[];
  /** From 1: which of the cluster's pools of nodes this is (backend.ts). */
  readonly pool: number;
  /** Node, control plane included → IPv4 address on the cluster's network. */
  readonly addresses: ReadonlyMap<string, string>;
  readonly kubeconfigPath: string;
  readonly timers: ClusterTimers;
  /** False when it was made for this run. */
  readonly reused: boolean;
  readonly kept: boolean;
  readonly lab: Lab;
  /** Absent: nodes have the array's own devices. */
  readonly storage: StorageNetwork | undefined;
  /** How observers read commands that talk in lines: volumes beside each other share them. */
  readonly openStream: OpenStream;
  readonly relays: Relays;
  /** Relays that one of several volumes opens and closes for itself. */
  newRelays(): Relays;
  readonly machine: (node: string) => KindMachine;
  kube(): Promise<KubeClients>;
  /** Removes the cluster unless it is kept, and gives the lock back. Idempotent. */
  release(): Promise<void>;
}

export interface ClusterChoice {
  /** Default `auto`: published where a registry answers, else built. */
  readonly images?: ImageSource | 'auto';
  /** Holds what this checkout would build. Default: none. */
  readonly registry?: string | undefined;
  /** Default `main`. */
  readonly clusterName?: string;
  /** Default 2; of a group one for each member. */
  readonly workers?: number | undefined;
  /** Keep the cluster after the run; default false. */
  readonly keep?: boolean;
}

/** Fields of a scenario that a cluster is made with. */
export const clusterFields = [
  'kubernetes.version',
  'kubernetes.featureGates',
  'kubernetes.admission',
  'timers.grace',
  'timers.forceDetachAfter',
  'timers.forceDetach',
  'volume.provision',
  'disk.transport',
  'fault.shutdownGrace',
  'fault.driverEnds',
] as const satisfies readonly FieldName[];

export interface ClusterRequest
  extends Pick<TestbedOptions, 'database' | 'runId' | 'onProgress' | 'signal'> {
  readonly scenario: Pick<Scenario, 'kubernetes' | 'timers' | 'volume' | 'disk' | 'fault'>;
}

export interface OpenCluster {
  readonly cluster: Cluster;
  readonly images: ImageSet;
}

let newest: Promise<unknown> = Promise.resolve();

/**
 * Clusters are made one after the other, in the order in which they are asked for: on two cores one
 * with its driver is up after 60 s; of three that were made at once the first was after 4 minutes.
 * Whose cluster is up waits for the others: beside a cluster that is made, timers were 3 to 5 % late.
 */
export async function clusterInTurn<T>(make: () => Promise<T>): Promise<T> {
  const mine = newest.then(make);
  newest = mine.catch(() => undefined);
  const made = await mine;
  for (let waitedFor: Promise<unknown> | undefined; waitedFor !== newest; ) {
    waitedFor = newest;
    await waitedFor;
  }
  return made;
}

/** The caller releases the cluster. */
export const openCluster = (
  { images: source = 'auto', registry, clusterName, workers, keep = false }: ClusterChoice,
  { scenario, ...request }: ClusterRequest,
): Promise<OpenCluster> =>
  clusterInTurn(async () => {
    const { kubernetes, volume, timers, disk, fault } = scenario;
    const { onProgress, signal } = request;
    signal.throwIfAborted();
    await putTimersFirst();
    const provisioner = volume.provision === 'dynamic';
    const wish = {
      source,
      registry,
      kubernetes: kubernetes.version,
      provisioner,
      beside: imagesBeside(disk.transport),
      onProgress,
      signal,
    };
    const images = await ensureImages(wish);
    await refuseUnknownGates(images, kubernetes.featureGates);
    const kind = await ensureKind();
    const named = clusterName === undefined ? {} : { name: clusterName };
    const size = { workers: workers ?? kindWorkers, keep };
    const cluster = await ensureCluster({
      ...{
        featureGates: kubernetes.featureGates,
        admission: kubernetes.admission,
        forceDetach: timers.forceDetach,
        graceMs: timers.grace,
        forceDetachAfterMs: timers.forceDetachAfter,
        transport: disk.transport,
        shutdown: { graceMs: fault.shutdownGrace, driverEnds: fault.driverEnds },
      },
      ...request,
      ...named,
      ...size,
      images,
      kind,
    });
    return { cluster, images };
  });

/**
 * Before a cluster is made whose parts won't start: throws UsageError `GATE_UNKNOWN` where the node image's kubelet does not know one of them.
 */
async function refuseUnknownGates(
  { node, kubernetesVersion }: Pick<ImageSet, 'node' | 'kubernetesVersion'>,
  gates: FeatureGates,
): Promise<void> {
  const wanted = Object.keys(gates);
  if (wanted.length === 0) return;
  // Components share one list; kubelet is in each node image, whoever made it.
  const argv = engine.runOnce(['--network', 'none', '--entrypoint', 'kubelet'], node, '--help');
  const { exitCode, stdout, stderr } = await tryRun(argv, { timeoutMs: 60_000 });
  const known = gatesIn(stdout);
  if (exitCode !== 0 || known.length === 0) {
    throw new InfrastructureError('GATES_NOT_LISTED', 'kubelet does not list its feature gates', {
      hint: stderr.trim().split('\n').at(-1) ?? 'its --help does not list any',
    });
  }
  const unknown = wanted.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new UsageError(
    'GATE_UNKNOWN',
    `Kubernetes ${kubernetesVersion} has no feature gate ${unknown}`,
    { hint: `it has ${known.length}, such as ${closest(unknown, known).join(', ')}` },
  );
}

/** Names of the list that kubelet prints: `NAME=true|false (BETA - default=true)`. */
export const gatesIn = (help: string): string[] =>
  [...help.matchAll(/\b([A-Z][A-Za-z0-9]+)=true\|false \(/g)].flatMap(([, name]) => name ?? []);

/** Three that share most of its beginning. */
function closest(name: string, known: readonly string[]): string[] {
  const shared = (other: string): number => {
    let length = 0;
    while (length < name.length && other[length] === name[length]) length += 1;
    return length;
  };
  return known.toSorted((a, b) => shared(b) - shared(a)).slice(0, 3);
}

export interface ClusterOptions {
  readonly database: Database;
  /** Lower-case letters, digits, dots and dashes, at most 30. Default `main`. */
  readonly name?: string;
  readonly images: ImageSet;
  readonly kind: string;
  readonly runId: string;
  /** Default 2. */
  readonly workers?: number;
  /** node-monitor-grace-period. Default: stock. */
  readonly graceMs?: number;
  /** Default: stock. Anything else needs images with `tunableForceDetach`. */
  readonly forceDetachAfterMs?: number;
  /** `off`: --disable-force-detach-on-timeout. Default `on`, as stock. */
  readonly forceDetach?: ForceDetach;
  /** Gates of all components, by name. Default: none is set. */
  readonly featureGates?: FeatureGates;
  /** Default: `open`. */
  readonly admission?: Scenario['kubernetes']['admission'];
  /** Default: no grace period, as stock. */
  readonly shutdown?: NodeShutdown;
  /** Default: nodes have the array's own devices. */
  readonly transport?: Transport;
  /** The cluster outlives the run, and the process. Default false. */
  readonly keep?: boolean;
  readonly onProgress?: (line: string) => void;
  readonly signal?: AbortSignal;
}

/**
 * A cluster of this name and configuration, with the CSI driver running. One of ours with another
 * configuration is replaced; one that is not ours is refused (`CLUSTER_FOREIGN`), and so is one
 * that another run uses (`CLUSTER_BUSY`). After an error or an abort nothing is left.
 */
export async function ensureCluster(options: ClusterOptions): Promise<Cluster> {
  const { name = 'main', runId, onProgress = () => undefined } = options;
  checkOptions(options, name);
  await mustPass(name);
  const lock = await lockCluster(name, runId, { onProgress });
  const hold = new LeaseHold(`run ${runId}, process ${process.pid}`);
  try {
    const found = await findCluster(name);
    await refuseForeign(name, found);
    refuseOthers(found?.labels);
    const create = createOptions({ ...options, name }, { hold, onProgress });
    // Its own first: an interrupt while others are removed would leave it.
    if (found !== undefined && isLeftOver(found)) await dropCluster(create);
    await reap({ onProgress });
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
    command: `npx forcedetach clean --all --cluster-name ${cluster}`,
  });
}

function checkOptions({ forceDetachAfterMs, images }: ClusterOptions, name: string): void {
  if (!isClusterName(name)) {
    throw new UsageError('CLUSTER_NAME', `\`${name}\` is not a valid cluster name`, {
      hint: `use ${clusterNameRule}`,
      again: ['--cluster-name', 'main'],
    });
  }
  const stock = [undefined, stockClusterTimers.forceDetachAfterMs];
  if (images.tunableForceDetach || stock.includes(forceDetachAfterMs)) return;
  throw new UsageError(
    'FORCE_DETACH_FIXED',
    'the published controller manager always waits 6 min before a forced detach',
    { hint: 'use built images, or omit --force-detach-after', again: ['--images', 'built'] },
  );
}

function createOptions(
  options: ClusterOptions & { readonly name: string },
  using: Pick<CreateOptions, 'hold' | 'onProgress'>,
): CreateOptions {
  const { images, kind, runId, workers = kindWorkers, forceDetach = 'on', keep = false } = options;
  const {
    name: cluster,
    database,
    featureGates = {},
    admission = 'open',
    transport = 'array',
    shutdown,
    signal,
  } = options;
  const { nodeMonitorGraceMs, forceDetachAfterMs } = stockClusterTimers;
  const timers = clusterTimers({
    grace: options.graceMs ?? nodeMonitorGraceMs,
    forceDetachAfter: options.forceDetachAfterMs ?? forceDetachAfterMs,
  });
  const config = {
    ...{ images, workers, timers, forceDetach, featureGates, admission, shutdown, transport },
  };
  const made = { runId, configHash: configHash(config), owner: currentOwner(), keep };
  return {
    ...config,
    ...using,
    database,
    kind,
    signal,
    labels: { cluster, ...made, tools: images.tools },
  };
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
  const { labels, lease, state, lab, nodes, clients, storage } = standing;
  const [first, ...workers] = nodes;
  if (first === undefined) throw new InfrastructureError('NO_NODES', 'the cluster has no nodes');
  const { database } = options;
  const newRelays = (): Relays => new Relays(lab, state.sockets, database.pod.port);
  const relays = newRelays();
  const machines = machinesOf(standing, database);
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
    database,
    name: labels.cluster,
    index: lease.index,
    loops: lease.loops,
    controlPlane: first.node,
    nodes: workers.map(({ node }) => node),
    pool: 1,
    addresses: new Map(nodes.map(({ node, ip }) => [node, ip])),
    kubeconfigPath: state.kubeconfig,
    timers: options.timers,
    ...{ reused, kept: labels.keep, lab, storage, openStream: openStream, relays, newRelays },
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
