/** Shards of one batch are of one Kubernetes, unless their file says otherwise. */
import { describe, expect, test } from 'vitest';
import type { Batch } from './batch.ts';
import { exampleBatch } from '../../test/support/example-batch.ts';
import { mergeBatches } from './merge.ts';

const shard = (releases: readonly string[], axis = 'disk'): Batch =>
  exampleBatch({
    versions: releases.length === 0 ? {} : { kubernetes: [...releases] },
    axes: [
      { name: axis, labels: axis === 'kubernetes' ? ['1.36', '1.37.1', '1.37.2'] : ['a', 'b'] },
    ],
  });

const merged = (batches: readonly Batch[]): Batch =>
  mergeBatches(batches.map((batch, index) => ({ batch, path: `shard-${index + 1}` })));

describe('shards of different Kubernetes are no batch', () => {
  test.each([
    { what: 'another minor', shards: [shard(['1.36.3']), shard(['1.37.2'])] },
    { what: 'another patch', shards: [shard(['1.36.3']), shard(['1.36.4'])] },
    { what: 'one shard on two patches', shards: [shard(['1.36.3', '1.36.4']), shard(['1.36.4'])] },
    {
      what: 'a minor of an axis in two patches',
      shards: [shard(['1.36.3'], 'kubernetes'), shard(['1.36.4', '1.37.2'], 'kubernetes')],
    },
  ])('$what', ({ shards }) => {
    expect(() => merged(shards)).toThrow(
      expect.objectContaining({
        code: 'SHARDS_DIFFER',
        message: expect.stringMatching(/ran on Kubernetes 1\.36\.3 and 1\.3[67]\.\d$/) as string,
        hint: expect.stringContaining('--kubernetes') as string,
      }),
    );
  });
});

describe('shards of one batch', () => {
  test.each([
    { what: 'one version', shards: [shard(['1.36.3']), shard(['1.36.3'])] },
    { what: 'a shard without a run', shards: [shard(['1.36.3']), shard([])] },
    {
      what: 'an axis of versions',
      shards: [shard(['1.36.3', '1.37.1'], 'kubernetes'), shard(['1.37.2'], 'kubernetes')],
    },
    {
      what: 'cells that name their version',
      shards: [shard(['1.36.3', '1.37.2']), shard(['1.37.2'])],
    },
  ])('$what', ({ shards }) => {
    expect(merged(shards).name).toBe('made up');
  });
});
