/**
 * Which clusters of ours the engine knows, and what is provably theirs: what carries our labels and
 * the name that goes with them, and of kind's nodes, which can carry none, those that hold the
 * labelled volume or are on the labelled network.
 */
import { InfrastructureError } from '../../core/index.ts';
import { inspect, list } from '../engine/run.ts';
import { byHand } from '../engine/commands.ts';
import {
  arrayName,
  decodeLabels,
  engineName,
  isContainerName,
  kindClusterLabel,
  label,
  labName,
  type ClusterLabels,
} from './labels.ts';
import { leaseAt } from './lease.ts';

export interface FoundCluster {
  readonly labels: ClusterLabels;
  readonly hasNetwork: boolean;
  readonly hasVolume: boolean;
  /** The network is there, with the subnet of the lease: else another cluster may have that by now. */
  readonly holdsLease: boolean;
  /** kind's nodes, the lab and the array, whatever state they are in. */
  readonly containers: readonly string[];
  /** Things that look like the cluster's and are not provably so; they are never touched. */
  readonly foreign: readonly string[];
}

interface Labelled {
  readonly Labels?: Readonly<Record<string, string>> | null;
  readonly Name: string;
}
interface LabelledNetwork extends Labelled {
  readonly Id: string;
  readonly IPAM: { readonly Config?: readonly { readonly Subnet?: string }[] | null };
}
interface LabelledVolume extends Labelled {
  readonly Mountpoint: string;
}
interface LabelledContainer {
  readonly Config: Pick<Labelled, 'Labels'>;
  readonly Name: string;
  readonly Mounts: readonly { readonly Source: string }[];
  readonly NetworkSettings: {
    readonly Networks: Readonly<Record<string, { readonly NetworkID: string }>>;
  };
}

interface ClusterParts {
  network?: LabelledNetwork;
  volume?: LabelledVolume;
  readonly containers: LabelledContainer[];
  readonly foreign: string[];
  labels: ClusterLabels;
}

const nameOf = ({ Name }: { readonly Name: string }): string => Name.replace(/^\//, '');

export async function findClusters(): Promise<FoundCluster[]> {
  const [networks, volumes, containers] = await Promise.all([
    list('network', [label.cluster]).then((ids) => inspect('network', ids)),
    list('volume', [label.cluster]).then((ids) => inspect('volume', ids)),
    list('container', [label.cluster]).then((ids) => inspect('container', ids)),
  ]);
  const all = new Map<string, ClusterParts>();
  const partsOf = (labels: Labelled['Labels']): ClusterParts | undefined => {
    const decoded = decodeLabels(labels);
    if (decoded === undefined) return undefined;
    const parts = all.get(decoded.cluster) ?? { labels: decoded, containers: [], foreign: [] };
    all.set(decoded.cluster, parts);
    return parts;
  };
  for (const container of containers as LabelledContainer[]) {
    const parts = partsOf(container.Config.Labels);
    const { cluster = '' } = parts?.labels ?? {};
    const name = nameOf(container);
    if (isContainerName(cluster, name)) parts?.containers.push(container);
    else parts?.foreign.push(`the container ${name}`);
  }
  for (const volume of volumes as LabelledVolume[]) addNamed(partsOf, 'volume', volume);
  // The network last: it is the lease, and its labels are what counts.
  for (const network of networks as LabelledNetwork[]) addNamed(partsOf, 'network', network);
  return Promise.all([...all.values()].map(withNodes));
}

function addNamed<K extends 'network' | 'volume'>(
  partsOf: (labels: Labelled['Labels']) => ClusterParts | undefined,
  kind: K,
  thing: NonNullable<ClusterParts[K]>,
): void {
  const parts = partsOf(thing.Labels);
  if (parts === undefined) return;
  if (thing.Name !== engineName(parts.labels.cluster)) {
    parts.foreign.push(`the ${kind} ${thing.Name}`);
    return;
  }
  parts[kind] = thing;
  parts.labels = decodeLabels(thing.Labels) ?? parts.labels;
}

async function withNodes(parts: ClusterParts): Promise<FoundCluster> {
  const { labels, network, volume, containers, foreign } = parts;
  const nodes = await kindNodes(labels.cluster);
  const own = nodes.filter((node) => isOf(node, network, volume));
  const subnets = network?.IPAM.Config?.map(({ Subnet }) => Subnet) ?? [];
  const others = nodes.filter((node) => !own.includes(node));
  return {
    labels,
    hasNetwork: network !== undefined,
    hasVolume: volume !== undefined,
    holdsLease: subnets.includes(leaseAt(labels.index).subnet),
    containers: [...own, ...containers].map(nameOf),
    foreign: [...foreign, ...others.map((node) => `the container ${nameOf(node)}`)],
  };
}

/** A node that is cut off is on no network, and still holds the volume. */
function isOf(
  { Mounts, NetworkSettings }: LabelledContainer,
  network: LabelledNetwork | undefined,
  volume: LabelledVolume | undefined,
): boolean {
  const networks = Object.values(NetworkSettings.Networks);
  return (
    Mounts.some(({ Source }) => volume !== undefined && Source === volume.Mountpoint) ||
    networks.some(({ NetworkID }) => network !== undefined && NetworkID === network.Id)
  );
}

async function kindNodes(cluster: string): Promise<LabelledContainer[]> {
  const ids = await list('container', [`${kindClusterLabel}=${engineName(cluster)}`]);
  return (await inspect('container', ids)) as LabelledContainer[];
}

export const findCluster = async (name: string): Promise<FoundCluster | undefined> =>
  (await findClusters()).find(({ labels }) => labels.cluster === name);

/**
 * Throws InfrastructureError `CLUSTER_FOREIGN` when something of that name exists which is not
 * ours. Nothing is touched.
 */
export async function refuseForeign(name: string, found: FoundCluster | undefined): Promise<void> {
  const taken = [...(found?.foreign ?? [])];
  if (found === undefined && (await kindNodes(name)).length > 0) taken.push('a kind cluster');
  for (const kind of ['network', 'volume'] as const) {
    const isOurs = kind === 'network' ? found?.hasNetwork : found?.hasVolume;
    if (isOurs === true) continue;
    if ((await inspect(kind, [engineName(name)])).length > 0) taken.push(`a ${kind}`);
  }
  for (const container of [labName(name), arrayName(name)]) {
    if (found?.containers.includes(container) === true) continue;
    if ((await inspect('container', [container])).length > 0) taken.push('a container');
  }
  if (taken.length === 0) return;
  throw new InfrastructureError(
    'CLUSTER_FOREIGN',
    `${taken.join(' and ')} named \`${engineName(name)}\` exists and does not belong to forcedetach`,
    {
      hint: 'nothing was changed; remove it yourself if you do not need it',
      command: byHand.lookAtContainers(`${kindClusterLabel}=${engineName(name)}`),
    },
  );
}
