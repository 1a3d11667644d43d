/** Removes a cluster with everything that it made on the machine, and nothing else. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import * as engine from '../engine/commands.ts';
import { commandError, run, tryRun } from '../engine/run.ts';
import { InfrastructureError } from '../../core/index.ts';
import { releaseLoops } from '../disk/loops.ts';
import {
  arrayName,
  type ClusterLabels,
  encodeLabels,
  engineName,
  labName,
  nodeNames,
} from './labels.ts';
import { leaseAt, type LeaseHold } from './lease.ts';
import { findCluster, type FoundCluster } from './registry.ts';
import { isComplete, removeStateDir, stateDirAt } from './state-dir.ts';

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
  if (!isComplete(labels.stateDir, labels.token)) await removeLateContainers(labels);
  // Loops before the volume: the files in it tell which are ours.
  if (found.hasVolume) {
    const holdsLease = found.holdsLease && (await hold.take(labels.index));
    const { loops } = leaseAt(labels.index);
    left.push(...(await releaseLoops({ loops, holdsLease, volume: name, tools: labels.tools })));
    await run(engine.removeVolume(name));
  }
  const directory = await removeStateDir(labels.stateDir, labels.token);
  if (directory !== undefined) left.push(directory);
  // The network last: it is the lease.
  if (found.hasNetwork) await run(engine.removeNetwork(name));
  return left;
}

/**
 * Does what `kind delete cluster` does, so that cleaning up needs no kind binary. The array goes
 * first: a process that waits for a request which it holds can't be killed until that fails.
 */
async function removeContainers(cluster: string, found: readonly string[]): Promise<void> {
  const array = arrayName(cluster);
  if (found.includes(array)) await run(engine.remove(array));
  const containers = found.filter((container) => container !== array);
  if (containers.length === 0) return;
  await run(engine.removeWhole(...containers), { timeoutMs: removalTimeoutMs });
}

/**
 * Those whose creation was cut off. kind's nodes carry no label of ours: only the network, or the volume
 * that they hold, proves of one that comes later whose it is.
 */
async function removeLateContainers(labels: ClusterLabels): Promise<void> {
  const { cluster } = labels;
  const taken = await awaitLateContainers(labels, async () =>
    removeContainers(cluster, (await findCluster(cluster))?.containers ?? []),
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
): Promise<string[]> {
  const untilMs = Date.now() + madeWithinMs;
  const left: string[] = [];
  const { cluster, stateDir } = labels;
  const nodes = nodeNames(cluster, nodesAsked(stateDir));
  for (const name of [labName(cluster), arrayName(cluster), ...nodes]) {
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
