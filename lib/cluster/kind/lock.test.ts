import { expect, test } from 'vitest';
import { InfrastructureError } from '../../errors.ts';
import { lockCluster, lockHolder } from './lock.ts';

const cluster = `lock-test-${process.pid}`;

test('the second run is told who has the cluster, and gets it once that is given back', async () => {
  const first = await lockCluster(cluster, 'run-1');
  const refused = await lockCluster(cluster, 'run-2').catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(InfrastructureError);
  expect(refused).toMatchObject({ code: 'CLUSTER_BUSY' });
  expect(String(refused)).toContain(`run run-1, process ${process.pid}`);

  await first.release();
  expect(await lockHolder(cluster)).toBeUndefined();
  const second = await lockCluster(cluster, 'run-2');
  expect(await lockHolder(cluster)).toContain('run-2');
  await second.release();
});

test('two clusters have two locks', async () => {
  const one = await lockCluster(`${cluster}-a`, 'run-1');
  const other = await lockCluster(`${cluster}-b`, 'run-2');
  await Promise.all([one.release(), other.release()]);
});
