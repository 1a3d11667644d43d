/** Takes away what dead runs left behind: run at each start and by `forcedetach clean`. */
import { describeError, holderOf, tryLock, ownerState, type OwnerState } from '../../core/index.ts';
import { findLabs, lockName, removeLab, whyLabStays, type FoundLab } from './labs.ts';
import { LeaseHold, lockToRemove } from './lease.ts';
import { findCluster, findClusters, type FoundCluster } from './registry.ts';
import { removeCluster } from './remove-cluster.ts';
import { isComplete } from './state-dir.ts';

export interface ReapOptions {
  /** Also clusters that were kept. Default false. */
  readonly all?: boolean;
  /** Only the cluster of this name; with `all` also where its owner can't be seen. Default all. */
  readonly only?: string | undefined;
  /** How long to wait for a cluster that somebody else looks at. Default 0: it is left. */
  readonly patienceMs?: number;
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

export async function reap(options: ReapOptions = {}): Promise<ReapReport> {
  const removed: string[] = [];
  const left: Reason[] = [];
  const resisted: Reason[] = [];
  for (const { cluster, take } of await leftovers(options)) {
    try {
      const outcome = await take();
      if ('left' in outcome) left.push({ cluster, why: outcome.left });
      else {
        removed.push(cluster);
        for (const why of outcome.resisted) resisted.push({ cluster, why });
      }
    } catch (error) {
      // One leftover that resists must not keep the others, nor a new run from starting.
      resisted.push({ cluster, why: describeError(error) });
    }
  }
  return { removed, left, resisted };
}

type Outcome = { readonly left: string } | { readonly resisted: readonly string[] };

/** Clusters, and where no name is given, labs. `cluster`: how it is called. */
async function leftovers(
  options: ReapOptions,
): Promise<readonly { readonly cluster: string; readonly take: () => Promise<Outcome> }[]> {
  const { only } = options;
  const clusters = (await findClusters())
    .map(({ labels: { cluster } }) => ({ cluster, take: () => reapOne(cluster, options) }))
    .filter(({ cluster }) => only === undefined || only === cluster);
  if (only !== undefined) return clusters;
  const labs = (await findLabs()).map((lab) => {
    const cluster = `the lab in ${lab.folder}`;
    return { cluster, take: () => reapLab(lab, cluster, options) };
  });
  return [...clusters, ...labs];
}

async function reapLab(lab: FoundLab, name: string, { onProgress }: ReapOptions): Promise<Outcome> {
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
