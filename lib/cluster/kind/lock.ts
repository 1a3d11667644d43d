/** One run at a time on a cluster. */
import { InfrastructureError } from '../../errors.ts';
import { lockHolder as holderOf, takeLock, type Lock } from '../../lock.ts';

export type { Lock } from '../../lock.ts';

/** Throws InfrastructureError `CLUSTER_BUSY` when another run has it. */
export async function lockCluster(cluster: string, runId: string): Promise<Lock> {
  try {
    return await takeLock(cluster, `run ${runId}, process ${process.pid}`);
  } catch (cause) {
    const other = (await lockHolder(cluster)) ?? 'another process';
    throw new InfrastructureError(
      'CLUSTER_BUSY',
      `the cluster \`${cluster}\` is in use by ${other}`,
      { hint: 'wait for that run to end, or give this one a cluster of its own', cause },
    );
  }
}

/** Who has the lock, or undefined when nobody has. */
export const lockHolder = (cluster: string): Promise<string | undefined> => holderOf(cluster);
