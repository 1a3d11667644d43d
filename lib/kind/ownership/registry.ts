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
export const nodeNames = (cluster: string, count: number): string[] =>
  ['control-plane', 'worker', ...Array.from({ length: count }, (_, n) => `worker${n + 2}`)]
    .slice(0, count)
    .map((node) => `${engineName(cluster)}-${node}`);
const isNodeName = (cluster: string, name: string): boolean =>
  name.startsWith(`${engineName(cluster)}-`) &&
  /^(control-plane|worker\d*)$/.test(name.slice(engineName(cluster).length + 1));
/** Name of a container that may carry the cluster's labels. */
export const isContainerName = (cluster: string, name: string): boolean =>
  [labName(cluster), arrayName(cluster)].includes(name) || isNodeName(cluster, name);

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

export function encodeLabels(labels: ClusterLabels): string[] {
  const pairs: Record<string, string> = {
    [label.cluster]: labels.cluster,
    [label.run]: labels.runId,
    [label.config]: labels.configHash,
    [label.index]: String(labels.index),
    [label.owner]: labels.owner === undefined ? '' : encodeOwner(labels.owner),
    [label.keep]: String(labels.keep),
    [label.state]: labels.stateDir,
    [label.token]: labels.token,
    [label.tools]: labels.tools,
  };
  return Object.entries(pairs).flatMap(([key, value]) => ['--label', `${key}=${value}`]);
}

/** What is printed of a label and was made elsewhere. */
const isRunId = (text: string): boolean => /^[\w.-]{0,64}$/.test(text);

/** Undefined where the labels are not ours, or are none that we make. */
export function decodeLabels(
  labels: Readonly<Record<string, string>> | null | undefined,
): ClusterLabels | undefined {
  const cluster = labels?.[label.cluster];
  const index = Number(labels?.[label.index] ?? Number.NaN);
  const runId = labels?.[label.run] ?? '';
  if (labels == null || cluster === undefined || !isClusterName(cluster)) return undefined;
  if (!isRunId(runId) || !isLeaseIndex(index)) return undefined;
  return {
    cluster,
    runId,
    configHash: labels[label.config] ?? '',
    index,
    owner: decodeOwner(labels[label.owner] ?? ''),
    keep: labels[label.keep] === 'true',
    stateDir: labels[label.state] ?? '',
    token: labels[label.token] ?? '',
    tools: labels[label.tools] ?? '',
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

export async function writePatches(
  dir: StateDir,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir.patches, name), text);
}

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
