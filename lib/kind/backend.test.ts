/** What becomes of the cluster where volumes cannot be opened on it. */
import { expect, test } from 'vitest';
import type { TestbedOptions } from '../run/ports/cluster.ts';
import type { Cluster } from './cluster.ts';
import { openKindVolumes } from './backend.ts';
import { realClock } from '../core/time.ts';

test('a cluster whose nodes could not be prepared is given back', async () => {
  const said: string[] = [];
  const cluster = {
    nodes: ['w1', 'w2'],
    kube: () => Promise.reject(new Error('no API')),
    release: () => Promise.resolve(void said.push('released')),
  } as unknown as Cluster;
  const around = { cluster, images: {} as never, clock: realClock(), isShared: true };
  const opening = openKindVolumes([{} as TestbedOptions], around);
  await expect(opening).rejects.toThrow('no API');
  expect(said).toEqual(['released']);
});
