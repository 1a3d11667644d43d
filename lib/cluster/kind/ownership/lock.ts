/** One run at a time on a cluster; who removes one has it, too. */
import { InfrastructureError } from '../../../errors.ts';
import { awaitLock, holderOf, takeFreeLock, type Lock } from '../../../lock.ts';

export type { Lock } from '../../../lock.ts';

const lockName = (cluster: string): string => `cluster/${cluster}`;

/** Throws InfrastructureError `CLUSTER_BUSY` when another run has it. */
export const lockCluster = (cluster: string, runId: string): Promise<Lock> =>
  takeFreeLock(lockName(cluster), `run ${runId}, process ${process.pid}`, (other) => {
    const what = `the cluster \`${cluster}\` is in use by ${other}`;
    const hint = 'wait for that run to end, or give this one a cluster of its own';
    return new InfrastructureError('CLUSTER_BUSY', what, { hint });
  });

/**
 * For the removal of what is left over. Who has it, where somebody has it for longer than
 * `patienceMs`: every start looks at every cluster, and has its lock meanwhile.
 */
export async function lockToRemove(cluster: string, patienceMs: number): Promise<Lock | string> {
  const name = lockName(cluster);
  const holder = `process ${process.pid}, which removes it`;
  return (await awaitLock(name, holder, patienceMs)) ?? holderOf(name);
}
