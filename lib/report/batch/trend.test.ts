/** What changed since a pinned batch is said in words, Kubernetes apart from the harness. */
import { expect, test } from 'vitest';
import type { Batch } from '../../matrix/batch.ts';
import { exampleBatch } from '../../../test/support/example-batch.ts';
import { conditionsInWords, trendOf } from './trend.ts';

const recorded = {
  forcedetach: ['0.1.0+aaaaaaaaaaaa'],
  kubernetes: ['1.36.3'],
  images: ['built'],
  node: ['v24.21.0'],
  'image node': ['sha256:1'],
  'image mysql': ['sha256:2'],
};

/** A batch with these versions beside one with those above. */
const words = (versions: Batch['versions'], changes: Partial<Batch> = {}): string =>
  conditionsInWords(
    trendOf(
      exampleBatch({ versions: recorded }),
      exampleBatch({ versions: { ...recorded, ...versions }, ...changes }),
    ).conditions,
  );

test('both, and more: what explains most comes first', () => {
  const versions = {
    forcedetach: ['0.1.0+bbbbbbbbbbbb'],
    kubernetes: ['1.37.2'],
    images: ['published'],
    node: ['v24.22.0'],
    'image node': ['sha256:3'],
    'image mysql': ['sha256:4'],
  };
  expect(words(versions, { basis: 'shortened' })).toBe(
    'Kubernetes: 1.36.3 → 1.37.2; the harness; images: node, mysql; ' +
      'basis: measured → shortened; source of the images: built → published; ' +
      'Node.js: v24.21.0 → v24.22.0.',
  );
});
