/** Makes a cluster from nothing: lease, volume, lab, array, kind's nodes, network, Ready nodes. */
import type { Database } from '../../run/index.ts';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  InfrastructureError,
  isReady,
  kubeClients,
  type KubeClients,
  waitFor,
} from '../../core/index.ts';
import { inspect, run } from '../engine/run.ts';
import * as engine from '../engine/commands.ts';
import { type Lab, startArray, startLab, weighing } from '../disk/containers.ts';
import { kindCommand } from './kind-command.ts';
import { type ClusterConfig, kindConfig, kubeadmPatches, sharedDir } from './kind-config.ts';
import { KindMachine } from '../nodes/machine.ts';
import {
  arrayName,
  encodeLabels,
  engineName,
  labName,
  type ClusterLabels,
  makeStateDir,
  type StateDir,
} from '../ownership/registry.ts';
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
  const { images, timers, onProgress, signal } = options;
  const name = engineName(options.labels.cluster);
  const state = await makeStateDir(options.labels.cluster);
  const { lease, labels } = await takeLease(
    { ...options.labels, stateDir: state.path, token: state.token },
    options,
  );
  const flags = encodeLabels(labels);
  await run(engine.createVolume(name, ...flags), { signal });
  const lab = await startLab({
    container: labName(labels.cluster),
    image: images.tools,
    network: name,
    volume: name,
    sockets: state.sockets,
    loops: lease.loops,
    labels: flags,
    signal,
  });
  await startArray({
    container: arrayName(labels.cluster),
    image: images.array,
    source: name,
    root: sharedDir,
    labels: flags,
    signal,
  });
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
    cgroupVersion: await cgroupVersion(),
    volumePath: await mountpoint(name),
    patchesPath: state.patches,
    // Asked in a privileged container, since that is what the nodes are.
    lacksSysResource: lacksSysResource(await lab.exec(['cat', '/proc/self/status'])),
  });
  await createNodes(options, state, name, config);
  await run(engine.update(`${name}-control-plane`, ...weighing('controlPlane')), { signal });
  const clients = await kubeClients(state.kubeconfig);
  const nodes = await nodeAddresses(clients, options.workers + 1, signal);
  onProgress('connecting the nodes');
  await connectNodes(lease, lab, nodes);
  await nodesReady(clients, 120_000, signal);
  return { labels, lease, state, lab, nodes, clients };
}

/** The first free lease, with what the network then says of its cluster. Throws as `takeNetwork` does. */
async function takeLease(
  wanted: Omit<ClusterLabels, 'index'>,
  { hold, signal }: CreateOptions,
): Promise<{ lease: Lease; labels: ClusterLabels }> {
  const labelsWith = ({ index }: Lease): ClusterLabels => ({ ...wanted, index });
  const lease = await takeNetwork({
    name: engineName(wanted.cluster),
    among: leases(),
    labelsOf: (each) => encodeLabels(labelsWith(each)),
    mayTake: ({ index }) => hold.take(index),
    signal,
  });
  return { lease, labels: labelsWith(lease) };
}

async function mountpoint(volume: string): Promise<string> {
  const [found] = (await inspect('volume', [volume])) as { readonly Mountpoint: string }[];
  if (found === undefined) throw new InfrastructureError('VOLUME_GONE', `no volume ${volume}`);
  return found.Mountpoint;
}

async function createNodes(
  { kind, labels, onProgress, signal }: CreateOptions,
  state: StateDir,
  name: string,
  config: string,
): Promise<void> {
  onProgress(`creating the cluster ${labels.cluster}`);
  await writeFile(state.kindConfig, config);
  const { kindConfig: file, kubeconfig } = state;
  await kindCommand(kind).create({ name, config: file, kubeconfig, onProgress, signal });
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
