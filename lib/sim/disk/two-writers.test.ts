import { expect, test } from 'vitest';
import { Chance } from '../kernel.ts';
import { TwoWriters } from './volume.ts';

const secondUs = 1_000_000;
const seeds = Array.from({ length: 40 }, (_, index) => String(index));
const [victim, successor] = [{}, {}];

/** Commits every 100 ms by each writer for so long; whether that broke something. */
function breaks(seed: string, writers: readonly object[], forUs: number): boolean {
  const both = new TwoWriters(Chance.of(seed));
  for (let nowUs = 0; nowUs < forUs; nowUs += secondUs / 10) {
    for (const writer of writers) if (both.commit(writer, nowUs) !== undefined) return true;
  }
  return false;
}

test('two break nothing within 3 s, a tree within 25 s, and in between one seed in two', () => {
  const broken = (seconds: number): number =>
    seeds.filter((seed) => breaks(seed, [victim, successor], seconds * secondUs)).length;
  expect(broken(3)).toBe(0);
  expect(broken(25)).toBe(seeds.length);
  expect(broken(13)).toBeGreaterThan(10);
  expect(broken(13)).toBeLessThan(30);
});

test('a recovery beside a server that commits is a race, at one commit as at a hundred', () => {
  const lost = (commits: number): number =>
    seeds.filter((seed) => new TwoWriters(Chance.of(seed)).recover(commits) !== undefined).length;
  expect(lost(0)).toBe(0);
  expect(lost(1)).toBeGreaterThan(5);
  expect(lost(1)).toBeLessThan(25);
  expect(lost(100)).toBe(lost(1));
  expect(lost(501)).toBe(seeds.length);
});
