/** Which clusters of ours the engine knows, read from the labels alone, and how one is removed. */
import { InfrastructureError } from '../../errors.ts';
import { docker, inspect, list } from './engine.ts';
import {
  arrayName,
  decodeLabels,
  engineName,
  kindClusterLabel,
  label,
  labName,
  type ClusterLabels,
} from './labels.ts';
import { leaseAt } from './lease.ts';
import { releaseLoops } from './loops.ts';
import { removeStateDir } from './state-dir.ts';

export interface FoundCluster {
  readonly labels: ClusterLabels;
  readonly hasNetwork: boolean;
  readonly hasVolume: boolean;
  /** kind's nodes, the lab and the array, whatever state they are in. */
  readonly containers: readonly string[];
}

interface Labelled {
  readonly Labels?: Readonly<Record<string, string>> | null;
  readonly Name: string;
}
interface LabelledContainer {
  readonly Config: Labelled;
  readonly Name: string;
}

export async function findClusters(): Promise<FoundCluster[]> {
  const [networks, volumes, containers] = await Promise.all([
    list('network', [label.cluster]).then((ids) => inspect('network', ids)),
    list('volume', [label.cluster]).then((ids) => inspect('volume', ids)),
    list('container', [label.cluster]).then((ids) => inspect('container', ids)),
  ]);
  const byName = new Map<string, ClusterLabels>();
  const remember = (labels: Labelled['Labels']): string | undefined => {
    const decoded = decodeLabels(labels);
    if (decoded !== undefined) byName.set(decoded.cluster, decoded);
    return decoded?.cluster;
  };
  const labelled = new Map<string, string[]>();
  for (const { Config, Name } of containers as LabelledContainer[]) {
    const cluster = remember(Config.Labels);
    if (cluster === undefined) continue;
    labelled.set(cluster, [...(labelled.get(cluster) ?? []), Name.replace(/^\//, '')]);
  }
  const withVolume = new Set((volumes as Labelled[]).map(({ Labels }) => remember(Labels)));
  const withNetwork = new Set((networks as Labelled[]).map(({ Labels }) => remember(Labels)));
  return Promise.all(
    [...byName.values()].map(async (labels) => ({
      labels,
      hasNetwork: withNetwork.has(labels.cluster),
      hasVolume: withVolume.has(labels.cluster),
      containers: [...(await kindNodes(labels.cluster)), ...(labelled.get(labels.cluster) ?? [])],
    })),
  );
}

const kindNodes = (cluster: string): Promise<string[]> =>
  list('container', [`${kindClusterLabel}=${engineName(cluster)}`]);

export async function findCluster(name: string): Promise<FoundCluster | undefined> {
  return (await findClusters()).find(({ labels }) => labels.cluster === name);
}

/**
 * Throws InfrastructureError `CLUSTER_FOREIGN` when something of that name exists which is not
 * ours. Nothing is touched.
 */
export async function refuseForeign(name: string, found: FoundCluster | undefined): Promise<void> {
  const taken: string[] = [];
  if (found?.hasNetwork !== true) {
    if ((await inspect('network', [engineName(name)])).length > 0) taken.push('network');
    // kind's nodes carry no label of ours: they are known by the network they are on.
    if ((await kindNodes(name)).length > 0) taken.push('kind cluster');
  }
  if (found?.hasVolume !== true && (await inspect('volume', [engineName(name)])).length > 0) {
    taken.push('volume');
  }
  for (const container of [labName(name), arrayName(name)]) {
    if (found?.containers.includes(container) === true) continue;
    if ((await inspect('container', [container])).length > 0) taken.push('container');
  }
  if (taken.length === 0) return;
  throw new InfrastructureError(
    'CLUSTER_FOREIGN',
    `a ${taken.join(' and a ')} of the name \`${engineName(name)}\` exists that is not ours`,
    {
      hint: 'nothing was touched; remove it yourself if you do not need it',
      command: `docker ps --all --filter label=${kindClusterLabel}=${engineName(name)}`,
    },
  );
}

/**
 * Removes a cluster with everything it made on the machine; each step may find its part gone.
 * Resolves to loop devices that stay, each with the reason.
 */
export async function removeCluster({ labels, ...found }: FoundCluster): Promise<string[]> {
  const name = engineName(labels.cluster);
  await removeContainers(labels.cluster, found.containers);
  // Loops before the volume: the files in it tell which are ours.
  const left = found.hasVolume ? await releaseLoops(leaseAt(labels.index), name, labels.tools) : [];
  if (found.hasVolume) await docker(['volume', 'rm', '--force', name]);
  await removeStateDir(labels.stateDir);
  // The network last: it is the lease.
  if (found.hasNetwork) await docker(['network', 'rm', name]);
  return left;
}

/**
 * Does what `kind delete cluster` does, so that cleaning up needs no kind binary. The array goes
 * first: a process that waits for a request which it holds can't be killed until that fails.
 */
async function removeContainers(cluster: string, found: readonly string[]): Promise<void> {
  const array = arrayName(cluster);
  if (found.includes(array)) await docker(['rm', '--force', array]);
  let containers = found.filter((container) => container !== array);
  // A creation that was just killed may still be under way in the engine.
  while (containers.length > 0) {
    await docker(['rm', '--force', '--volumes', ...containers]);
    containers = await kindNodes(cluster);
  }
}
