/** Takes away what dead runs left behind: run at each start and by `forcedetach clean`. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import * as engine from '../engine/commands.ts';
import { commandError, run, tryRun } from '../engine/run.ts';
import {
  InfrastructureError,
  describeError,
  holderOf,
  tryLock,
  ownerState,
  type OwnerState,
} from '../../core/index.ts';
import { releaseLoops, findLabs, lockName, removeLab, whyLabStays, type FoundLab } from './labs.ts';
import {
  arrayName,
  type ClusterLabels,
  encodeLabels,
  engineName,
  initiatorName,
  isInitiatorName,
  labName,
  nodeNames,
  findCluster,
  type FoundCluster,
  isComplete,
  removeStateDir,
  stateDirAt,
  storageName,
  findClusters,
} from './registry.ts';
import { leaseAt, LeaseHold, lockToRemove } from './lease.ts';

/** A node with eight volumes on a busy machine takes 20 s. */
const removalTimeoutMs = 120_000;

/**
 * Each step may find its part gone. Resolves to what stays, each with the reason. Takes the lease, and
 * where another has that, only loop devices with files of this cluster. Throws InfrastructureError
 * `CONTAINER_UNDER_WAY` where the engine has one that it neither shows nor gives up; the network, the
 * volume and the directory are then all there still.
 */
export async function removeCluster(
  { labels, ...found }: FoundCluster,
  hold: LeaseHold,
): Promise<string[]> {
  const name = engineName(labels.cluster);
  await removeContainers(labels.cluster, found.containers);
  const left = found.foreign.map((thing) => `${thing} is not provably ours`);
  if (!isComplete(labels.stateDir, labels.token)) {
    await removeLateContainers(labels, found.hasStorageNetwork);
  }
  // Loops before the volume: the files in it tell which are ours.
  if (found.hasVolume) {
    const holdsLease = found.holdsLease && (await hold.take(labels.index));
    const { loops } = leaseAt(labels.index);
    left.push(...(await releaseLoops({ loops, holdsLease, volume: name, tools: labels.tools })));
    await run(engine.removeVolume(name));
  }
  const directory = await removeStateDir(labels.stateDir, labels.token);
  if (directory !== undefined) left.push(directory);
  if (found.hasStorageNetwork) await run(engine.removeNetwork(storageName(labels.cluster)));
  // The network last: it is the lease.
  if (found.hasNetwork) await run(engine.removeNetwork(name));
  return left;
}

/**
 * Does what `kind delete cluster` does, so that cleaning up needs no kind binary. What serves the disks goes
 * first, the nodes' initiators before the rest: a process that waits for a request can't be killed until that fails.
 */
async function removeContainers(cluster: string, found: readonly string[]): Promise<void> {
  const initiators = found.filter((container) => isInitiatorName(cluster, container));
  const storage = [...initiators, arrayName(cluster)];
  const serving = storage.filter((container) => found.includes(container));
  if (serving.length > 0) await run(engine.remove(...serving));
  const containers = found.filter((container) => !storage.includes(container));
  if (containers.length === 0) return;
  await run(engine.removeWhole(...containers), { timeoutMs: removalTimeoutMs });
}

/**
 * Those whose creation was cut off. kind's nodes carry no label of ours: only the network, or the volume
 * that they hold, proves of one that comes later whose it is.
 */
async function removeLateContainers(
  labels: ClusterLabels,
  hasStorageNetwork: boolean,
): Promise<void> {
  const { cluster } = labels;
  const taken = await awaitLateContainers(
    labels,
    async () => removeContainers(cluster, (await findCluster(cluster))?.containers ?? []),
    hasStorageNetwork,
  );
  if (taken.length === 0) return;
  throw new InfrastructureError(
    'CONTAINER_UNDER_WAY',
    `the engine has been making ${taken.join(' and ')} for ${madeWithinMs / 1000} s; the network and volume ${engineName(cluster)} and the cluster’s directory stay, since they prove the owner`,
    {
      hint: 'clean up when the engine has finished; if it never does, restart it first',
      command: `npx forcedetach clean --all --cluster-name ${cluster}`,
    },
  );
}

/**
 * Containers that the engine was still making when their run was killed come up later, when what tells
 * whose they are is gone, or about to go. The engine takes a container's name as soon as it is asked to
 * make it: a name that is taken and shows no container has one under way.
 * The engine makes one in 1 s, and on a machine with four clusters in 20 s.
 */
const madeWithinMs = 120_000;
const everyMs = 250;

/**
 * Waits until no container of that cluster is under way; `removeShown` takes away those that show by then.
 * Resolves to the names that stay taken.
 */
export async function awaitLateContainers(
  labels: ClusterLabels,
  removeShown: () => Promise<void>,
  hasStorageNetwork = false,
): Promise<string[]> {
  const untilMs = Date.now() + madeWithinMs;
  const left: string[] = [];
  const { cluster, stateDir } = labels;
  const nodes = nodeNames(cluster, nodesAsked(stateDir));
  const onStorage = hasStorageNetwork ? nodes.map(initiatorName) : [];
  for (const name of [labName(cluster), arrayName(cluster), ...nodes, ...onStorage]) {
    while (!(await isFree(name, labels))) {
      if (Date.now() > untilMs) {
        left.push(name);
        break;
      }
      await removeShown();
      await sleep(everyMs);
    }
  }
  return left;
}

interface KindConfig {
  readonly nodes: readonly unknown[];
}

/** Counts what kind was told; 0 where it was never asked for nodes. */
function nodesAsked(stateDir: string): number {
  try {
    const { nodes } = parse(readFileSync(stateDirAt(stateDir).kindConfig, 'utf8')) as KindConfig;
    return nodes.length;
  } catch {
    return 0;
  }
}

/** Takes the name for a moment. Labelled, so that what a kill leaves of it is found too. */
async function isFree(name: string, labels: ClusterLabels): Promise<boolean> {
  const flags = ['--name', name, '--network', 'none', ...encodeLabels(labels)];
  const argv = engine.create(flags, labels.tools, 'true');
  const taken = await tryRun(argv);
  if (taken.exitCode === 0) {
    await run(engine.removeWhole(name));
    return true;
  }
  if (taken.stderr.includes('is already in use by container')) return false;
  throw commandError(argv, taken);
}

interface ReapOptions {
  /** Also clusters that were kept. Default false. */
  readonly all?: boolean;
  /** Only the cluster of this name; with `all` also where its owner can't be seen. Default all. */
  readonly only?: string | undefined;
  /** How long to wait for a cluster that somebody else looks at. Default 0: it is left. */
  readonly patienceMs?: number;
  readonly onProgress?: (line: string) => void;
}

interface ReapReport {
  readonly removed: readonly string[];
  /** Those that are no leftovers, and why. */
  readonly left: readonly Reason[];
  /** Leftovers, or parts of them, that could not be removed. */
  readonly resisted: readonly Reason[];
}

export interface Reason {
  readonly cluster: string;
  readonly why: string;
}

/** Why a cluster must stay, or undefined when it is left over. */
export function whyItStays(
  { keep, owner, cluster }: { keep: boolean; owner: OwnerState; cluster: string },
  { all = false, only }: Pick<ReapOptions, 'all' | 'only'>,
): string | undefined {
  if (owner === 'alive' && !keep) return 'its owner is alive';
  if (owner === 'unknown' && !(all && only === cluster)) {
    const clean = `npx forcedetach clean --all --cluster-name ${cluster}`;
    return `whether its owner lives cannot be seen from here (another host, user or container, or an older release); ${clean} removes it`;
  }
  if (all || !keep) return undefined;
  return 'kept; npx forcedetach clean --all removes it';
}

export const isLeftOver = (found: FoundCluster): boolean =>
  whyItStays(stateOf(found), {}) === undefined;

export async function reap(options: ReapOptions = {}): Promise<ReapReport> {
  const { only, onProgress } = options;
  const report = { removed: [] as string[], left: [] as Reason[], resisted: [] as Reason[] };
  const take = async (cluster: string, work: () => Promise<Outcome>): Promise<void> => {
    try {
      const outcome = await work();
      if ('left' in outcome) report.left.push({ cluster, why: outcome.left });
      else {
        report.removed.push(cluster);
        for (const why of outcome.resisted) report.resisted.push({ cluster, why });
      }
    } catch (error) {
      // One leftover that resists must not keep the others, nor a new run from starting.
      report.resisted.push({ cluster, why: describeError(error) });
    }
  };
  for (const { labels } of await findClusters()) {
    const { cluster } = labels;
    if (only === undefined || only === cluster)
      await take(cluster, () => reapOne(cluster, options));
  }
  for (const lab of only === undefined ? await findLabs() : []) {
    const name = `the lab in ${lab.folder}`;
    await take(name, () => reapLab(lab, name, onProgress));
  }
  return report;
}

type Outcome = { readonly left: string } | { readonly resisted: readonly string[] };

async function reapLab(
  lab: FoundLab,
  name: string,
  onProgress: ReapOptions['onProgress'],
): Promise<Outcome> {
  const lock = tryLock(lockName(lab.loops), `process ${process.pid}, which removes a lab`);
  if (lock === undefined) return { left: `in use by ${holderOf(lockName(lab.loops))}` };
  try {
    const why = whyLabStays(lab);
    if (why !== undefined) return { left: why };
    onProgress?.(`removing ${name} that a dead process left behind`);
    return { resisted: await removeLab(lab) };
  } finally {
    await lock.release();
  }
}

/** With the cluster's lock, so that no start takes it up, or makes it anew, meanwhile. */
async function reapOne(cluster: string, options: ReapOptions): Promise<Outcome> {
  const lock = await lockToRemove(cluster, options.patienceMs ?? 0);
  if (typeof lock === 'string') return { left: `in use by ${lock}` };
  const hold = new LeaseHold(`process ${process.pid}, which removes its cluster`);
  try {
    // Looked at again: the one that was seen may have gone, and another one have come.
    const found = await findCluster(cluster);
    if (found === undefined) return { resisted: [] };
    const why = whyItStays(stateOf(found), options);
    if (why !== undefined) return { left: why };
    const { runId } = found.labels;
    options.onProgress?.(`removing the cluster ${cluster} that run ${runId} left behind`);
    return { resisted: await removeCluster(found, hold) };
  } finally {
    await hold.release();
    await lock.release();
  }
}

const stateOf = ({ labels }: FoundCluster): Parameters<typeof whyItStays>[0] => ({
  cluster: labels.cluster,
  keep: labels.keep && isComplete(labels.stateDir, labels.token),
  owner: labels.owner === undefined ? 'unknown' : ownerState(labels.owner),
});
