/** One run at a time on a cluster; who removes one has it, too. */
import { InfrastructureError } from '../../../errors.ts';
import { awaitLock, holderOf, type Lock } from '../../../lock.ts';

export type { Lock } from '../../../lock.ts';

const lockName = (cluster: string): string => `cluster/${cluster}`;

/** What a holder's name ends with that will soon be done. */
const removes = ', which removes it';
/** So long a removal takes at the most on a machine that makes three clusters beside it: 5 to 20 s is usual. */
const removalMs = 120_000;
const lookEveryMs = 2000;

export interface Waiting {
  /** Default: nobody is told. */
  readonly onProgress?: (line: string) => void;
  /** For who removes what a dead run left of it. Default: 120 000. */
  readonly patienceMs?: number;
}

/** Throws InfrastructureError `CLUSTER_BUSY` when another run has it, or who removes it does not end. */
export async function lockCluster(
  cluster: string,
  runId: string,
  { onProgress = () => undefined, patienceMs = removalMs }: Waiting = {},
): Promise<Lock> {
  const name = lockName(cluster);
  for (let leftMs = patienceMs; ; leftMs -= lookEveryMs) {
    const lock = await awaitLock(name, `run ${runId}, process ${process.pid}`, lookEveryMs);
    if (lock !== undefined) return lock;
    const other = holderOf(name);
    if (leftMs <= 0 || !other.endsWith(removes)) throw busy(cluster, other);
    if (leftMs === patienceMs) onProgress(`waiting for ${other} to release the cluster ${cluster}`);
  }
}

/** Names have at most 30 characters. */
const secondName = (cluster: string): string => `${cluster.slice(0, 28)}-2`;

function busy(cluster: string, other: string): InfrastructureError {
  const what = `${other} is using the cluster \`${cluster}\``;
  const hint = 'wait until it ends, or use another cluster';
  return new InfrastructureError('CLUSTER_BUSY', what, {
    hint,
    again: ['--cluster-name', secondName(cluster)],
  });
}

/**
 * For the removal of what is left over. Who has it, where somebody has it for longer than
 * `patienceMs`: every start looks at every cluster, and has its lock meanwhile.
 */
export async function lockToRemove(cluster: string, patienceMs: number): Promise<Lock | string> {
  const name = lockName(cluster);
  return (await awaitLock(name, `process ${process.pid}${removes}`, patienceMs)) ?? holderOf(name);
}
