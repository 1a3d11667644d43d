import { expect, test } from 'vitest';
import type { ImageSet } from '../../../images/image-set.ts';
import { configHash } from './kind-config.ts';
import { clusterTimers, stockClusterTimers } from '../../timers.ts';

const images: ImageSet = {
  source: 'built',
  kubernetesVersion: '1.34.4',
  node: 'forcedetach/node:1',
  creation: { node: 'node', has: [] },
  load: [],
  database: 'forcedetach/mysql:1',
  attacher: 'forcedetach/attacher:1',
  driver: 'forcedetach/driver:1',
  array: 'forcedetach/array:1',
  tools: 'forcedetach/tools:1',
  ids: { node: 'sha256:1', driver: 'sha256:2', array: 'sha256:2', mysql: 'sha256:3' },
  tunableForceDetach: true,
};
const config = {
  images,
  workers: 2,
  timers: stockClusterTimers,
  forceDetach: 'on',
  featureGates: {},
} as const;

test('a new driver or array keeps the cluster, a new node image does not', () => {
  const withIds = (ids: Record<string, string>): string =>
    configHash({ ...config, images: { ...images, ids: { ...images.ids, ...ids } } });
  expect(withIds({ driver: 'sha256:9', array: 'sha256:9' })).toBe(configHash(config));
  expect(withIds({ node: 'sha256:9' })).not.toBe(configHash(config));
});

test('workers, timers, feature gates and the forced detach make another cluster', () => {
  const timers = clusterTimers({ graceMs: 10_000, forceDetachAfterMs: 30_000 });
  const hashes = [config, { ...config, workers: 3 }, { ...config, timers }].map(configHash);
  const off = configHash({ ...config, forceDetach: 'off' });
  const gates = [{ AllAlpha: true }, { AllAlpha: false }].map((featureGates) =>
    configHash({ ...config, featureGates }),
  );
  expect(new Set([...hashes, ...gates, off]).size).toBe(6);
});

test('the order of the ids does not matter', () => {
  const ids = Object.fromEntries(Object.entries(images.ids).toReversed());
  expect(configHash({ ...config, images: { ...images, ids } })).toBe(configHash(config));
});
