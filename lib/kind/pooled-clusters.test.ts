import { combined, completeScenario, type Settings } from '../scenario/index.ts';
import { expect, test } from 'vitest';
import type { Cluster, openCluster } from './cluster.ts';
import { PooledClusters } from './backend.ts';
import { mysql } from '../mysql/database.ts';

const stock = completeScenario({
  ...{ name: 'a', question: '?', expected: ['safe'] },
  fault: { kind: 'none' },
});
const choice = { clusterName: 'm', workers: 4 };
const requestOf = (settings: Settings = {}) => ({
  scenario: combined(stock, settings),
  database: mysql,
  runId: 'r',
  onProgress: () => undefined,
  signal: new AbortController().signal,
});
const pool = (number: number) => ({ number, of: 2 });

/** Clusters of which nothing is real: `failures` openings are refused first. */
function fakes(failures = 0) {
  const log: string[] = [];
  let left = failures;
  const open: typeof openCluster = async ({ workers = 0 }, { scenario }) => {
    await Promise.resolve();
    if (left > 0) {
      left -= 1;
      throw new Error('no room');
    }
    log.push(`open ${workers} ${scenario.timers.grace}`);
    const nodes = Array.from({ length: workers }, (_, index) => `w${index + 1}`);
    const release = (): Promise<void> => Promise.resolve(void log.push('close'));
    const kube = (): Promise<never> => Promise.reject(new Error('no API'));
    const cluster = { nodes, pool: 1, kube, release } as unknown as Cluster;
    return { cluster, images: {} as never };
  };
  const clusters = new PooledClusters(open, ({ nodes }) =>
    Promise.resolve(void log.push(`mend ${nodes.join()}`)),
  );
  return { log, clusters };
}

test('one cluster, a pool of nodes for each event, given back by the last', async () => {
  const { log, clusters } = fakes();
  const [one, two] = await Promise.all([
    clusters.join(pool(1), choice, requestOf()),
    clusters.join(pool(2), choice, requestOf()),
  ]);
  expect([one.cluster.nodes, two.cluster.nodes]).toEqual([
    ['w1', 'w2'],
    ['w3', 'w4'],
  ]);
  expect([one.cluster.pool, two.cluster.pool]).toEqual([1, 2]);
  await one.cluster.release();
  await one.cluster.release();
  const again = await clusters.join(pool(1), choice, requestOf());
  await two.cluster.release();
  expect(log).toEqual(['open 4 50000', 'mend w3,w4', 'mend w1,w2']);
  await again.cluster.release();
  expect(log.at(-1)).toBe('close');
  await clusters.join(pool(2), choice, requestOf());
  expect(log.at(-1)).toBe('open 4 50000');
});

test('an event with other timers waits until the cluster is given back', async () => {
  const { log, clusters } = fakes();
  const one = await clusters.join(pool(1), choice, requestOf());
  const other = clusters.join(pool(2), choice, requestOf({ timers: { grace: 10_000 } }));
  await Promise.resolve();
  expect(log).toEqual(['open 4 50000']);
  await one.cluster.release();
  await other;
  expect(log).toEqual(['open 4 50000', 'close', 'open 4 10000']);
});

test('where the first cannot open it, the next one tries', async () => {
  const { log, clusters } = fakes(1);
  const [one, two] = await Promise.allSettled([
    clusters.join(pool(1), choice, requestOf()),
    clusters.join(pool(2), choice, requestOf()),
  ]);
  expect(one).toMatchObject({ status: 'rejected', reason: new Error('no room') });
  expect(two).toMatchObject({ value: { cluster: { nodes: ['w3', 'w4'] } } });
  expect(log).toEqual(['open 4 50000']);
});
