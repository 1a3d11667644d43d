import { expect, test, vi } from 'vitest';
import { InfrastructureError } from '../../core/errors.ts';
import { lockCluster, lockToRemove } from './lease.ts';

const cluster = `lock-test-${process.pid}`;

test('the second run is told who has the cluster, and gets it once that is given back', async () => {
  const first = await lockCluster(cluster, 'run-1');
  expect(await lockToRemove(cluster, 0)).toContain('run-1');
  const refused = await lockCluster(cluster, 'run-2').catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(InfrastructureError);
  expect(refused).toMatchObject({ code: 'CLUSTER_BUSY' });
  expect(String(refused)).toContain(`run run-1, process ${process.pid}`);

  await first.release();
  const second = await lockCluster(cluster, 'run-2');
  await second.release();
});

test('who begins with a cluster waits until what a dead run left of it is removed', async () => {
  const removing = await lockToRemove(cluster, 0);
  if (typeof removing === 'string') throw new Error(removing);
  const onProgress = vi.fn();
  const begun = lockCluster(cluster, 'run-1', { onProgress });
  await expect.poll(() => onProgress.mock.calls.join(), { timeout: 5000 }).toContain('removes it');
  await removing.release();
  await (await begun).release();
  expect(onProgress).toHaveBeenCalledOnce();
});

test('a removal that does not end is told', async () => {
  const removing = await lockToRemove(cluster, 0);
  if (typeof removing === 'string') throw new Error(removing);
  const waiting = { patienceMs: 0 };
  await expect(lockCluster(cluster, 'run-1', waiting)).rejects.toThrow('which removes it');
  await removing.release();
});

test('who removes a cluster waits for one that only looks at it', async () => {
  const looking = await lockCluster(cluster, 'run-1');
  const removing = lockToRemove(cluster, 10_000);
  await looking.release();
  const lock = await removing;
  if (typeof lock === 'string') throw new Error(lock);
  await lock.release();
});
