/**
 * Which clusters of ours the engine knows, and what is provably theirs: what carries our labels and
 * the name that goes with them, and of kind's nodes, which can carry none, those that hold the
 * labelled volume or are on the labelled network.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  isClusterName,
  decodeOwner,
  encodeOwner,
  type Owner,
  privateFolder,
  stateHome,
  InfrastructureError,
} from '../../core/index.ts';
import { isLeaseIndex, leaseAt } from './lease.ts';
import { inspect, list } from '../engine/run.ts';
import { byHand } from '../engine/commands.ts';

/*
 * The engine is the registry of what exists: everything made carries these labels, and nothing
 * without them is ever touched.
 */

export const label = {
  /** Name of the cluster: what all others hang on. */
  cluster: 'forcedetach.cluster',
  run: 'forcedetach.run',
  /** Hash of the configuration (kind-config.ts). */
  config: 'forcedetach.config',
  /** Index of the lease. */
  index: 'forcedetach.index',
  owner: 'forcedetach.owner',
  /** `true`: stays when its owner ends. */
  keep: 'forcedetach.keep',
  /** Directory on the host with kubeconfig and sockets. */
  state: 'forcedetach.state',
  /** What is written in that directory, too: both together tell that it is the cluster's. */
  token: 'forcedetach.token',
  /** Image of the lab, needed again to release loop devices. */
  tools: 'forcedetach.tools',
  /** Loop devices of a lab without a cluster, as FIRST+COUNT (labs.ts). */
  loops: 'forcedetach.loops',
} as const;

/** kind's own label on its nodes. */
export const kindClusterLabel = 'io.x-k8s.kind.cluster';

/** Name of kind cluster, network and volume. */
export const engineName = (cluster: string): string => `fd-${cluster}`;
export const labName = (cluster: string): string => `${engineName(cluster)}-lab`;
export const arrayName = (cluster: string): string => `${engineName(cluster)}-array`;
/** Where disks are reached over a network: that network, and a node's initiator. */
export const storageName = (cluster: string): string => `${engineName(cluster)}-storage`;
export const initiatorName = (node: string): string => `${node}-initiator`;
export const nodeNames = (cluster: string, count: number): string[] =>
  ['control-plane', 'worker', ...Array.from({ length: count }, (_, n) => `worker${n + 2}`)]
    .slice(0, count)
    .map((node) => `${engineName(cluster)}-${node}`);
export const isNodeName = (cluster: string, name: string): boolean =>
  name.startsWith(`${engineName(cluster)}-`) &&
  /^(control-plane|worker\d*)$/.test(name.slice(engineName(cluster).length + 1));
/** Name of a container that may carry the cluster's labels. */
export const isContainerName = (cluster: string, name: string): boolean =>
  [labName(cluster), arrayName(cluster)].includes(name) ||
  isInitiatorName(cluster, name) ||
  isNodeName(cluster, name);
export const isInitiatorName = (cluster: string, name: string): boolean =>
  name.endsWith(initiatorName('')) && isNodeName(cluster, name.slice(0, -initiatorName('').length));

export interface ClusterLabels {
  readonly cluster: string;
  readonly runId: string;
  readonly configHash: string;
  readonly index: number;
  /** Undefined where the label can't be read: such an owner is never called dead. */
  readonly owner: Owner | undefined;
  readonly keep: boolean;
  readonly stateDir: string;
  /** The state directory's; empty where the label is missing: such a directory is left alone. */
  readonly token: string;
  readonly tools: string;
}

/** As flags of whatever the engine makes. */
export const labelFlags = (pairs: Readonly<Record<string, string>>): string[] =>
  Object.entries(pairs).flatMap(([key, value]) => ['--label', `${key}=${value}`]);

export const encodeLabels = (labels: ClusterLabels): string[] =>
  labelFlags({
    [label.cluster]: labels.cluster,
    [label.run]: labels.runId,
    [label.config]: labels.configHash,
    [label.index]: String(labels.index),
    [label.owner]: labels.owner === undefined ? '' : encodeOwner(labels.owner),
    [label.keep]: String(labels.keep),
    [label.state]: labels.stateDir,
    [label.token]: labels.token,
    [label.tools]: labels.tools,
  });

/** Undefined where the labels are not ours, or are none that we make. */
export function decodeLabels(
  labels: Readonly<Record<string, string>> | null | undefined,
): ClusterLabels | undefined {
  const read = (name: string): string => labels?.[name] ?? '';
  const cluster = read(label.cluster);
  const runId = read(label.run);
  const index = Number(labels?.[label.index] ?? Number.NaN);
  // What is printed of a label was made elsewhere.
  const isRunId = /^[\w.-]{0,64}$/.test(runId);
  if (!isClusterName(cluster) || !isRunId || !isLeaseIndex(index)) return undefined;
  return {
    ...{ cluster, runId, index, configHash: read(label.config) },
    ...{ owner: decodeOwner(read(label.owner)), keep: read(label.keep) === 'true' },
    ...{ stateDir: read(label.state), token: read(label.token), tools: read(label.tools) },
  };
}

/** A socket's address holds 108 bytes (unix(7)); its name within the directory takes up to 40. */
const longestDirectory = 60;

export interface StateDir {
  readonly path: string;
  readonly kubeconfig: string;
  /** What kind is told. */
  readonly kindConfig: string;
  readonly patches: string;
  readonly sockets: string;
}

/** The directory that a label names. */
export const stateDirAt = (path: string): StateDir => ({
  path,
  kubeconfig: join(path, 'kubeconfig'),
  kindConfig: join(path, 'kind.yaml'),
  patches: join(path, 'patches'),
  sockets: join(path, 's'),
});

const tokenFile = '.token';

/** What says that a directory is one of ours: it lies in the file, and in the cluster's labels. */
function tokenIn(path: string): string | undefined {
  try {
    return readFileSync(join(path, tokenFile), 'utf8');
  } catch {
    return undefined;
  }
}

/**
 * `$XDG_STATE_HOME/forcedetach/<cluster>`, or one under the temporary directory if that is long or
 * there is a directory which is not ours. `token`: for the labels.
 */
export async function makeStateDir(
  cluster: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<StateDir & { readonly token: string }> {
  const wanted = join(privateFolder(stateHome(env)), cluster);
  const left = tokenIn(wanted);
  // Only a start that has the cluster's lock comes here: what is there is a dead one's.
  if (left !== undefined) await removeStateDir(wanted, left);
  const fits = Buffer.byteLength(wanted) <= longestDirectory && !existsSync(wanted);
  const path = fits ? wanted : await mkdtemp(join(tmpdir(), 'forcedetach-'));
  const dir = stateDirAt(path);
  const token = randomBytes(16).toString('hex');
  // Whoever can dial a relay has the database.
  privateFolder(path);
  await writeFile(join(path, tokenFile), token, { mode: 0o600 });
  await mkdir(dir.patches, { mode: 0o755 });
  await mkdir(dir.sockets, { mode: 0o700 });
  return { ...dir, token };
}

const completeMark = 'complete';

/** Says that the cluster's creation came to its end: only such a one is worth keeping. */
export const markComplete = (dir: StateDir): Promise<void> =>
  writeFile(join(dir.path, completeMark), '');

/** Looks at the directory that labels name, which has to be theirs. */
export const isComplete = (path: string, token: string): boolean =>
  token !== '' && tokenIn(path) === token && existsSync(join(path, completeMark));

/**
 * Removes the directory, or says why it stays. A label might be forged or wrong: only a real
 * directory of this user that has the same token is ours. No directory is no error.
 */
export async function removeStateDir(path: string, token: string): Promise<string | undefined> {
  const found = path === '' ? undefined : lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  const isOurs = found.isDirectory() && found.uid === process.getuid?.();
  if (!isOurs || token === '' || tokenIn(path) !== token) {
    return `${JSON.stringify(path)} is not the cluster’s directory, whatever its label says`;
  }
  await rm(path, { recursive: true, force: true });
  return undefined;
}

export interface FoundCluster {
  readonly labels: ClusterLabels;
  readonly hasNetwork: boolean;
  readonly hasStorageNetwork: boolean;
  readonly hasVolume: boolean;
  /** The network is there, with the subnet of the lease: else another cluster may have that by now. */
  readonly holdsLease: boolean;
  /** kind's nodes, the lab, the array and the initiators, whatever state they are in. */
  readonly containers: readonly string[];
  /** Things that look like the cluster's and are not provably so; they are never touched. */
  readonly foreign: readonly string[];
}

/** What the engine tells of a network, a volume or a container, as far as it is looked at. */
interface Labelled {
  readonly Name: string;
  readonly Labels?: Readonly<Record<string, string>> | null;
}
interface LabelledNetwork extends Labelled {
  readonly Id: string;
  readonly IPAM: { readonly Config?: readonly { readonly Subnet?: string }[] | null };
}
interface LabelledVolume extends Labelled {
  readonly Mountpoint: string;
}
interface LabelledContainer extends Labelled {
  readonly Config: Pick<Labelled, 'Labels'>;
  readonly Mounts: readonly { readonly Source: string }[];
  readonly NetworkSettings: {
    readonly Networks: Readonly<Record<string, { readonly NetworkID: string }>>;
  };
}

type Found =
  | { readonly kind: 'network'; readonly thing: LabelledNetwork }
  | { readonly kind: 'volume'; readonly thing: LabelledVolume }
  | { readonly kind: 'container'; readonly thing: LabelledContainer };
type Thing = Found & { readonly labels: ClusterLabels; readonly isOurs: boolean };

const nameOf = ({ Name }: Labelled): string => Name.replace(/^\//, '');

export async function findClusters(): Promise<FoundCluster[]> {
  const things = await Promise.all((['container', 'volume', 'network'] as const).map(labelled));
  const byCluster = Map.groupBy(things.flat(), ({ labels }) => labels.cluster);
  return Promise.all([...byCluster.values()].map(clusterOf));
}

async function labelled(kind: Found['kind']): Promise<Thing[]> {
  const things = (await inspect(kind, await list(kind, [label.cluster]))) as Found['thing'][];
  return things.flatMap((thing) => {
    const labels = decodeLabels('Config' in thing ? thing.Config.Labels : thing.Labels);
    if (labels === undefined) return [];
    const { cluster } = labels;
    const isOurs =
      kind === 'container'
        ? isContainerName(cluster, nameOf(thing))
        : thing.Name === engineName(cluster) ||
          (kind === 'network' && thing.Name === storageName(cluster));
    return [{ kind, thing, labels, isOurs } as Thing];
  });
}

async function clusterOf(things: readonly Thing[]): Promise<FoundCluster> {
  const own = things.filter(({ isOurs }) => isOurs);
  // The network is the last, and its labels are what counts: it is the lease.
  const { labels } = (own.findLast(({ kind }) => kind !== 'container') ?? things[0]) as Thing;
  const networks = own.flatMap((each) => (each.kind === 'network' ? each.thing : []));
  const network = networks.find(({ Name }) => Name === engineName(labels.cluster));
  const volume = own.find((each) => each.kind === 'volume')?.thing;
  const nodes = await kindNodes(labels.cluster);
  const ownNodes = nodes.filter((node) => isOf(node, network, volume));
  const containers = own.flatMap(({ kind, thing }) => (kind === 'container' ? thing : []));
  const subnets = network?.IPAM.Config?.map(({ Subnet }) => Subnet) ?? [];
  const strange = [
    ...things.filter((each) => !own.includes(each)),
    ...nodes
      .filter((node) => !ownNodes.includes(node))
      .map((thing) => ({ kind: 'container', thing })),
  ];
  return {
    labels,
    hasNetwork: network !== undefined,
    hasStorageNetwork: networks.some((each) => each !== network),
    hasVolume: volume !== undefined,
    holdsLease: subnets.includes(leaseAt(labels.index).subnet),
    containers: [...ownNodes, ...containers].map(nameOf),
    foreign: strange.map(({ kind, thing }) => `the ${kind} ${nameOf(thing)}`),
  };
}

/** A node that is cut off is on no network, and still holds the volume. */
const isOf = (
  { Mounts, NetworkSettings }: LabelledContainer,
  network: LabelledNetwork | undefined,
  volume: LabelledVolume | undefined,
): boolean =>
  Mounts.some(({ Source }) => volume !== undefined && Source === volume.Mountpoint) ||
  Object.values(NetworkSettings.Networks).some(
    ({ NetworkID }) => network !== undefined && NetworkID === network.Id,
  );

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
  const named = [
    ['network', engineName(name), found?.hasNetwork],
    ['network', storageName(name), found?.hasStorageNetwork],
    ['volume', engineName(name), found?.hasVolume],
    ...[labName(name), arrayName(name)].map(
      (container) => ['container', container, found?.containers.includes(container)] as const,
    ),
  ] as const;
  for (const [what, thing, isOurs] of named) {
    if (isOurs !== true && (await inspect(what, [thing])).length > 0) taken.push(`a ${what}`);
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
