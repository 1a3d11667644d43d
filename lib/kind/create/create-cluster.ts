/** Makes a cluster from nothing: lease, volume, lab, array, kind's nodes, network, Ready nodes. */
import type { Database } from '../../run/index.ts';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isReady, kubeClients, type KubeClients, waitFor } from '../../core/index.ts';
import { run } from '../engine/run.ts';
import * as engine from '../engine/commands.ts';
import {
  type ArrayContainerOptions,
  type Lab,
  startArray,
  startLab,
  weighing,
} from '../disk/containers.ts';
import { createKind } from './kind-command.ts';
import { type ClusterConfig, kindConfig, kubeadmPatches, sharedDir } from './kind-config.ts';
import { KindMachine } from '../nodes/machine.ts';
import {
  arrayName,
  encodeLabels,
  engineName,
  labName,
  type ClusterLabels,
  makeStateDir,
  storageName,
  type StateDir,
} from '../ownership/registry.ts';
import type { StorageNetwork } from '../disk/disk.ts';
import { startStorageNetwork } from '../disk/storage-network.ts';
import { endsOf, type Transport } from '../../scenario/index.ts';
import type { ImageSet } from '../images/image-plan.ts';
import { type Lease, type LeaseHold, leases } from '../ownership/lease.ts';
import { cgroupVersion, lacksSysResource } from '../preflight.ts';
import {
  installCni,
  type NodeAddress,
  restoreRoutes,
  routeLab,
  takeNetwork,
} from '../nodes/network.ts';

export interface CreateOptions extends ClusterConfig {
  readonly database: Database;
  readonly kind: string;
  /** All labels but those that the creation itself decides. */
  readonly labels: Omit<ClusterLabels, 'index' | 'stateDir' | 'token'>;
  /** Has the cluster's lease from its choice on, as long as the cluster is in use. */
  readonly hold: LeaseHold;
  readonly onProgress: (line: string) => void;
  readonly signal: AbortSignal | undefined;
}

/** A cluster that stands, whether it was just made or found. */
export interface Standing {
  readonly labels: ClusterLabels;
  readonly lease: Lease;
  readonly state: StateDir;
  readonly lab: Lab;
  /** Control plane first, then the workers by name. */
  readonly nodes: readonly NodeAddress[];
  readonly clients: KubeClients;
  /** Absent: nodes have the array's own devices. */
  readonly storage?: StorageNetwork | undefined;
}

/** By the name of the node; the control plane is the first. */
export function machinesOf(
  { labels, lease, lab, nodes }: Omit<Standing, 'state' | 'clients'>,
  { server }: Database,
): ReadonlyMap<string, KindMachine> {
  const network = engineName(labels.cluster);
  const common = { server, all: nodes, controlPlane: nodes[0]?.node ?? '', network, lease };
  return new Map(
    nodes.map((self) => [self.node, new KindMachine({ ...common, self, lab: lab.container })]),
  );
}

/** Whatever fails or is interrupted here leaves labelled things only: the caller removes them. */
export async function createCluster(options: CreateOptions): Promise<Standing> {
  const { images, timers, hold, onProgress, signal } = options;
  const { cluster } = options.labels;
  const name = engineName(cluster);
  const state = await makeStateDir(cluster);
  const made = { ...options.labels, stateDir: state.path, token: state.token };
  const lease = await takeNetwork({
    name,
    among: leases(),
    labelsOf: ({ index }) => encodeLabels({ ...made, index }),
    mayTake: ({ index }) => hold.take(index),
    signal,
  });
  const labels = { ...made, index: lease.index };
  const flags = encodeLabels(labels);
  await run(engine.createVolume(name, ...flags), { signal });
  const lab = await startLab({
    container: labName(cluster),
    image: images.tools,
    network: name,
    volume: name,
    sockets: state.sockets,
    loops: lease.loops,
    labels: flags,
    signal,
  });
  if (endsOf(options.transport) !== undefined) {
    const internal = engine.createNetwork(storageName(cluster), lease.storage, [
      '--internal',
      ...flags,
    ]);
    await run(internal, { signal });
  }
  await startArray(arrayOf(options, labels));
  for (const [file, text] of Object.entries(kubeadmPatches(timers, options.forceDetach))) {
    await writeFile(join(state.patches, file), text);
  }
  const config = kindConfig({
    name,
    nodeImage: images.creation.node,
    workers: options.workers,
    lease,
    timers,
    featureGates: options.featureGates,
    shutdown: options.shutdown,
    cgroupVersion: await cgroupVersion(),
    volumePath: await run(engine.inspect('volume', [name], '{{.Mountpoint}}')),
    patchesPath: state.patches,
    // Asked in a privileged container, since that is what the nodes are.
    lacksSysResource: lacksSysResource(await lab.exec(['cat', '/proc/self/status'])),
  });
  onProgress(`creating the cluster ${cluster}`);
  await writeFile(state.kindConfig, config);
  const { kindConfig: file, kubeconfig } = state;
  await createKind(options.kind, { name, config: file, kubeconfig, onProgress, signal });
  await run(engine.update(`${name}-control-plane`, ...weighing('controlPlane')), { signal });
  const clients = await kubeClients(state.kubeconfig);
  const nodes = await nodeAddresses(clients, options.workers + 1, signal);
  onProgress('connecting the nodes');
  await connectNodes(lease, lab, nodes);
  await nodesReady(clients, 120_000, signal);
  const standing = { labels, lease, state, lab, nodes, clients };
  return { ...standing, storage: await startStorage(options, standing) };
}

export const arrayOf = (
  { transport, images, signal }: CreateOptions,
  labels: ClusterLabels,
): ArrayContainerOptions => ({
  container: arrayName(labels.cluster),
  image: images.array,
  server: serverImageOf(transport, images),
  source: engineName(labels.cluster),
  root: sharedDir,
  network: endsOf(transport) && storageName(labels.cluster),
  labels: encodeLabels(labels),
  signal,
});

/** Undefined where the array serves by itself. */
function serverImageOf(transport: Transport, images: ImageSet): string | undefined {
  const { serves } = endsOf(transport) ?? {};
  return serves && images[serves];
}

/** Undefined where nodes have the array's own devices. */
export async function startStorage(
  { transport, images, onProgress, signal }: CreateOptions,
  { labels, lease, nodes }: Standing,
): Promise<StorageNetwork | undefined> {
  const ends = endsOf(transport);
  if (ends === undefined || images.initiator === undefined) return undefined;
  onProgress(`connecting the storage network (${transport})`);
  const workers = nodes.slice(1).map(({ node }) => node);
  const common = { cluster: labels.cluster, labels: encodeLabels(labels), lease, workers };
  return startStorageNetwork({ ...common, ends, image: images.initiator, signal });
}

/** Addresses and pod ranges as Kubernetes has them, which also holds while a node is cut off. */
export const nodeAddresses = async (
  { core }: KubeClients,
  count: number,
  signal?: AbortSignal,
): Promise<NodeAddress[]> =>
  waitFor(
    { what: `${count} nodes have joined and have a pod range`, timeoutMs: 120_000, signal },
    async () => {
      const { items } = await core.listNode();
      const nodes = items.flatMap(({ metadata, spec, status }) => {
        const ip = status?.addresses?.find(({ type }) => type === 'InternalIP')?.address;
        const { name: node } = metadata ?? {};
        const { podCIDR: podCidr } = spec ?? {};
        return node && ip && podCidr ? [{ node, ip, podCidr }] : [];
      });
      if (nodes.length < count) return `only ${nodes.length} of ${items.length} have both`;
      // `…-control-plane` sorts before `…-worker`, which sorts before `…-worker2`.
      return nodes.toSorted((a, b) => a.node.localeCompare(b.node, 'en', { numeric: true }));
    },
  );

async function connectNodes(lease: Lease, lab: Lab, nodes: readonly NodeAddress[]): Promise<void> {
  await Promise.all(
    nodes.map(async (self) => {
      await installCni(self);
      await restoreRoutes(lease, self, nodes);
    }),
  );
  await routeLab(lab.container, nodes);
}

/** `among`: only these nodes; default: all. */
export async function nodesReady(
  { core }: KubeClients,
  timeoutMs: number,
  signal?: AbortSignal,
  among?: readonly string[],
): Promise<void> {
  const wait = { what: 'all nodes are Ready', timeoutMs, signal, command: 'kubectl get nodes' };
  await waitFor(wait, async () => {
    const { items } = await core.listNode();
    const waiting = items.filter(
      ({ metadata, status }) => among?.includes(metadata?.name ?? '') !== false && !isReady(status),
    );
    const names = waiting.map(({ metadata }) => metadata?.name).join(', ');
    return waiting.length === 0 ? true : `not Ready: ${names}`;
  });
}
