/** Takes away what dead runs left behind: run at each start and by experiments/clean.mjs. */
import { describeError } from '../../errors.ts';
import { lockHolder } from './lock.ts';
import { ownerState, type OwnerState } from './owner.ts';
import { findClusters, removeCluster, type FoundCluster } from './registry.ts';
import { isComplete } from './state-dir.ts';

export interface ReapOptions {
  /** Also clusters that were kept, and those whose owner can't be seen from here. Default false. */
  readonly all?: boolean;
  /** Only the cluster of this name. Default all. */
  readonly only?: string | undefined;
  readonly onProgress?: (line: string) => void;
}

export interface ReapReport {
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
  cluster: {
    readonly keep: boolean;
    readonly owner: OwnerState;
    readonly lockedBy?: string | undefined;
  },
  all: boolean,
): string | undefined {
  if (cluster.lockedBy !== undefined) return `in use by ${cluster.lockedBy}`;
  if (cluster.owner === 'alive' && !cluster.keep) return 'its owner is alive';
  if (all) return undefined;
  if (cluster.keep) return 'kept; experiments/clean.mjs --all removes it';
  return cluster.owner === 'unknown' ? 'its owner cannot be seen from here' : undefined;
}

export async function reap(options: ReapOptions = {}): Promise<ReapReport> {
  const { all = false, only, onProgress } = options;
  const removed: string[] = [];
  const left: Reason[] = [];
  const resisted: Reason[] = [];
  for (const found of await findClusters()) {
    const { cluster } = found.labels;
    if (only !== undefined && only !== cluster) continue;
    const why = whyItStays(await stateOf(found), all);
    if (why !== undefined) {
      left.push({ cluster, why });
      continue;
    }
    onProgress?.(`removing the cluster ${cluster} that run ${found.labels.runId} left behind`);
    try {
      const loops = await removeCluster(found);
      removed.push(cluster);
      for (const loop of loops) resisted.push({ cluster, why: loop });
    } catch (error) {
      // One leftover that resists must not keep the others, nor a new run from starting.
      resisted.push({ cluster, why: describeError(error) });
    }
  }
  return { removed, left, resisted };
}

async function stateOf({ labels }: FoundCluster): Promise<Parameters<typeof whyItStays>[0]> {
  return {
    keep: labels.keep && isComplete(labels.stateDir),
    owner: labels.owner === undefined ? 'unknown' : ownerState(labels.owner),
    lockedBy: await lockHolder(labels.cluster),
  };
}
