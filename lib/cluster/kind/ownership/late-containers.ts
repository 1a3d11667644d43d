/**
 * Containers that the engine was still making when their run was killed. They come up later, when what
 * tells whose they are is gone, or about to go. The engine takes a container's name as soon as it is
 * asked to make it: a name that is taken and shows no container has one under way.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import * as engine from '../../../engine/commands.ts';
import { commandError, run, tryRun } from '../../../engine/run.ts';
import { arrayName, encodeLabels, labName, nodeNames, type ClusterLabels } from './labels.ts';
import { stateDirAt } from './state-dir.ts';

/** The engine makes one in 1 s, and on a machine with four clusters in 20 s. */
export const madeWithinMs = 120_000;
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

/** As kind was told; 0 where it was never asked for nodes. */
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
