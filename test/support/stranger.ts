/**
 * A kind cluster that this harness does not know: none of its labels, nothing in its registry, so that
 * what is written for other people's clusters can be tried on one. It is found by its name alone.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as engine from '../../lib/kind/engine/commands.ts';
import { inspect, run } from '../../lib/kind/engine/run.ts';
import { privateFolder, stateHome } from '../../lib/core/owner.ts';
import type { ClusterTimers } from '../../lib/run/ports/limits.ts';
import type { ImageSet } from '../../lib/kind/images/image-plan.ts';
import { startArray } from '../../lib/kind/disk/containers.ts';
import { nodeAddresses, nodesReady } from '../../lib/kind/create/create-cluster.ts';
import { createKind, loadImages } from '../../lib/kind/create/kind-command.ts';
import { kindConfig, kubeadmPatches, sharedDir } from '../../lib/kind/create/kind-config.ts';
import {
  apply,
  kubeClients,
  type KubeClients as Clients,
} from '../../lib/core/kubernetes-client.ts';
import { leases, driverLoopsOf, machineLoops, type Lease } from '../../lib/kind/ownership/lease.ts';
import { releaseLoops } from '../../lib/kind/ownership/labs.ts';
import { cgroupVersion, lacksSysResource } from '../../lib/kind/preflight.ts';
import { installCni, restoreRoutes, takeNetwork } from '../../lib/kind/nodes/network.ts';
import { ensureMachineLoops } from './machine-loops.ts';
import { strangerObjects } from './stranger-objects.ts';
import { waitFor } from '../../lib/core/time.ts';

/** As they are where a provisioner is asked for. */
export type StrangerImages = Required<
  Pick<ImageSet, 'creation' | 'driver' | 'attacher' | 'provisioner' | 'array' | 'tools'>
>;

export interface StrangerRequest {
  readonly name: string;
  readonly images: StrangerImages;
  /** Path of the kind binary. */
  readonly kind: string;
  readonly timers: ClusterTimers;
  /** Three workers in two zones. Default: two, and nothing is said of zones. */
  readonly inZones?: boolean;
  /** No driver at all: whoever wants one brings it. */
  readonly isBare?: boolean;
  readonly say: (line: string) => void;
}

/** Beside the folder of our own clusters, not in it. */
const folderOf = (name: string): string =>
  join(privateFolder(join(dirname(stateHome()), 'forcedetach-strangers')), name);
export const strangerKubeconfig = (name: string): string => join(folderOf(name), 'kubeconfig');
const arrayOf = (name: string): string => `${name}-array`;
const nodesOf = (name: string, workers: number): string[] => [
  `${name}-control-plane`,
  ...Array.from({ length: workers }, (_, at) => `${name}-worker${at === 0 ? '' : at + 1}`),
];
const mostWorkers = 3;

const zoneKey = 'topology.acme.example/zone';

/**
 * Two workers in one zone, the third in another, as a driver with topology keys registers them. Its CSINodes
 * are made again: what a driver registered can't be changed.
 */
async function putInZones({ core, storage }: Clients, [, ...workers]: string[]): Promise<void> {
  for (const [index, name] of workers.entries()) {
    const label = { op: 'add', path: `/metadata/labels/${zoneKey.replace('/', '~1')}` };
    const value = index < 2 ? 'east' : 'west';
    await core.patchNode({ name, body: [{ ...label, value }] });
    const { metadata, spec } = await storage.readCSINode({ name });
    const drivers = spec.drivers.map((driver) =>
      Object.assign(driver, { topologyKeys: [zoneKey] }),
    );
    const { ownerReferences = [] } = metadata ?? {};
    await storage.deleteCSINode({ name });
    await storage.createCSINode({
      body: { metadata: { name, ownerReferences }, spec: { drivers } },
    });
  }
}

/**
 * Kubelet puts a loop device of its own over each raw volume; a container has the devices of when it
 * started.
 */
const loopNodes = `for n in $(seq 0 ${machineLoops.count - 1}); do [ -e /dev/loop$n ] || mknod /dev/loop$n b 7 $n; done`;

/** Throws InfrastructureError as the engine does; what was made stays, for `removeStranger`. */
export async function makeStranger(request: StrangerRequest): Promise<void> {
  const { name, images, kind, timers, isBare = false, say } = request;
  const workers = workersOf(request);
  const folder = folderOf(name);
  await mkdir(join(folder, 'patches'), { recursive: true });
  // Whose network it is shows in its name only; from the end, since ours are taken from the front.
  await ensureMachineLoops(images.tools);
  const lease = await takeNetwork({ name, among: leases().toReversed() });
  await run(engine.createVolume(name));
  if (!isBare) {
    const root = sharedDir;
    await startArray({ container: arrayOf(name), image: images.array, source: name, root });
  }
  for (const [file, text] of Object.entries(kubeadmPatches(timers))) {
    await writeFile(join(folder, 'patches', file), text);
  }
  const config = join(folder, 'kind.yaml');
  await writeFile(config, await configOf(request, lease));
  const kubeconfig = strangerKubeconfig(name);
  const creation = { name, config, kubeconfig, onProgress: say, signal: undefined };
  await createKind(kind, creation);
  const clients = await kubeClients(kubeconfig);
  const nodes = await nodeAddresses(clients, workers + 1);
  for (const self of nodes) {
    await installCni(self);
    await restoreRoutes(lease, self, nodes);
  }
  await nodesReady(clients, 180_000);
  for (const node of nodesOf(name, workers)) await run(engine.shell(node, loopNodes));
  if (isBare) return say(`ready: KUBECONFIG=${kubeconfig}`);
  say('loading images');
  const wanted = [images.driver, images.provisioner];
  const missing = wanted.filter((ref) => !images.creation.has.includes(ref));
  await loadImages(kind, { name, images: missing, signal: undefined });
  say('starting the driver');
  const { driver: driverImage, attacher: attacherImage, provisioner: provisionerImage } = images;
  const loops = { first: lease.loops.first, count: lease.loops.count };
  await apply(
    clients,
    await strangerObjects({ driverImage, attacherImage, provisionerImage, loops, sharedDir }),
  );
  await waitFor({ what: 'the driver runs on all nodes', timeoutMs: 240_000 }, async () => {
    const { items } = await clients.storage.listCSINode();
    const missing = items.filter(({ spec }) => spec.drivers.length < 2);
    return (
      missing.length === 0 ||
      `missing on ${missing.map(({ metadata }) => metadata?.name).join(', ')}`
    );
  });
  if (request.inZones === true) await putInZones(clients, nodesOf(name, workers));
  say(`ready: KUBECONFIG=${kubeconfig}, loop devices ${driverLoopsOf(loops)}`);
}

const workersOf = ({ inZones = false }: StrangerRequest): number => (inZones ? 3 : 2);

async function configOf(request: StrangerRequest, lease: Lease): Promise<string> {
  const { name, images, timers } = request;
  const workers = workersOf(request);
  const [volume] = (await inspect('volume', [name])) as { readonly Mountpoint: string }[];
  const once = ['--privileged', '--network', 'none', '--entrypoint', 'cat'];
  const status = await run(engine.runOnce(once, images.tools, '/proc/self/status'));
  return kindConfig({
    ...{ name, nodeImage: images.creation.node, workers, lease, timers, featureGates: {} },
    cgroupVersion: await cgroupVersion(),
    volumePath: volume?.Mountpoint ?? '',
    patchesPath: join(folderOf(name), 'patches'),
    lacksSysResource: lacksSysResource(status),
  });
}

/** By its name. What is not there is passed over. Resolves to what stays. */
export async function removeStranger(name: string, tools: string): Promise<string[]> {
  const there = (await inspect('container', [arrayOf(name), ...nodesOf(name, mostWorkers)])) as {
    readonly Name: string;
  }[];
  // The array first: what waits for it can't be killed.
  for (const { Name } of there.toSorted((a) => (a.Name.endsWith('-array') ? -1 : 1))) {
    await run(engine.removeWhole(Name.replace('/', '')), { timeoutMs: 180_000 });
  }
  const [network] = (await inspect('network', [name])) as {
    readonly IPAM: { readonly Config: readonly { readonly Subnet: string }[] };
  }[];
  const lease = leases().find(({ subnet }) => subnet === network?.IPAM.Config[0]?.Subnet);
  const left =
    lease === undefined
      ? []
      : await releaseLoops({ loops: lease.loops, holdsLease: true, volume: name, tools });
  await run(engine.removeVolume(name));
  if (network !== undefined) await run(engine.removeNetwork(name));
  await rm(folderOf(name), { recursive: true, force: true });
  return left;
}
