import { expect, test } from 'vitest';
import { isClusterName } from './cluster-name.ts';

test.each(['main', 'a', '9', 'a.b-c', 'a'.repeat(30)])('%s may name a cluster', (name) =>
  expect(isClusterName(name)).toBe(true),
);

test.each(['', 'Main', '-a', 'a-', '.a', 'a_b', 'a/b', 'a'.repeat(31)])('%j may not', (name) =>
  expect(isClusterName(name)).toBe(false),
);
