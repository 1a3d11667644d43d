import { expect, test } from 'vitest';
import { whyItStays } from './reap.ts';

test('what a dead run left is left over', () => {
  expect(whyItStays({ keep: false, owner: 'dead' }, false)).toBeUndefined();
});

test('a running cluster is never removed, not even by --all', () => {
  expect(whyItStays({ keep: false, owner: 'alive' }, true)).toBe('its owner is alive');
  expect(whyItStays({ keep: true, owner: 'dead', lockedBy: 'run 7' }, true)).toBe(
    'in use by run 7',
  );
});

test('a kept cluster stays until --all', () => {
  expect(whyItStays({ keep: true, owner: 'dead' }, false)).toMatch(/--all/);
  expect(whyItStays({ keep: true, owner: 'dead' }, true)).toBeUndefined();
});

test('an owner that cannot be seen is not called dead', () => {
  expect(whyItStays({ keep: false, owner: 'unknown' }, false)).toMatch(/cannot be seen/);
  expect(whyItStays({ keep: false, owner: 'unknown' }, true)).toBeUndefined();
});
