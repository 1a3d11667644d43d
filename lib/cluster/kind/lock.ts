/** One run at a time on a cluster. */
import { InfrastructureError } from '../../errors.ts';
import { takeFreeLock, type Lock } from '../../lock.ts';

export { lockHolder, type Lock } from '../../lock.ts';

/** Throws InfrastructureError `CLUSTER_BUSY` when another run has it. */
export const lockCluster = (cluster: string, runId: string): Promise<Lock> =>
  takeFreeLock(cluster, `run ${runId}, process ${process.pid}`, (other, cause) => {
    const what = `the cluster \`${cluster}\` is in use by ${other}`;
    const hint = 'wait for that run to end, or give this one a cluster of its own';
    return new InfrastructureError('CLUSTER_BUSY', what, { hint, cause });
  });
