import { expect, test } from 'vitest';
import { whyItStays } from './reap.ts';

const cluster = 'main';
const left = { cluster, keep: false, owner: 'dead' } as const;

test('what a dead run left is left over', () => {
  expect(whyItStays(left, {})).toBeUndefined();
});

test('a cluster whose owner lives is never removed, not even by --all', () => {
  const alive = { ...left, owner: 'alive' } as const;
  expect(whyItStays(alive, { all: true, only: cluster })).toBe('its owner is alive');
});

test('a kept cluster stays until --all', () => {
  const kept = { ...left, keep: true };
  expect(whyItStays(kept, {})).toMatch(/--all/);
  expect(whyItStays(kept, { all: true })).toBeUndefined();
});

test('one whose owner cannot be seen stays until it is named', () => {
  for (const keep of [false, true]) {
    const unseen = { ...left, keep, owner: 'unknown' } as const;
    expect(whyItStays(unseen, {})).toMatch(/cannot be seen.*--all --cluster-name main/);
    expect(whyItStays(unseen, { all: true })).toMatch(/cannot be seen/);
    expect(whyItStays(unseen, { only: cluster })).toMatch(/cannot be seen/);
    expect(whyItStays(unseen, { all: true, only: cluster })).toBeUndefined();
  }
});
