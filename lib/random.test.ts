import { expect, test } from 'vitest';
import { mix32, randomStream } from './random.ts';

const draws = (seed: string, n = 5): number[] => {
  const stream = randomStream(seed);
  return Array.from({ length: n }, () => stream.int(0, 1_000_000));
};

test('a seed gives the same draws for ever', () => {
  expect(draws('0x1F')).toEqual([337156, 171300, 618071, 183166, 691472]);
  expect(draws('0x1F')).not.toEqual(draws('31'));
});

test('a named stream does not depend on what was drawn before it, nor on other names', () => {
  const fresh = randomStream('seed');
  const used = randomStream('seed');
  used.int(0, 9);
  used.stream('other').float();
  expect(used.stream('a').float()).toBe(fresh.stream('a').float());
  expect(fresh.stream('a').float()).not.toBe(fresh.stream('b').float());
});

test('names of nested streams are not mistaken for each other', () => {
  const random = randomStream('seed');
  expect(random.stream('a').stream('b').float()).not.toBe(random.stream('a","b').float());
});

test('int includes both ends and float stays below 1', () => {
  const stream = randomStream('ends');
  const seen = new Set(Array.from({ length: 200 }, () => stream.int(1, 3)));
  expect(seen).toEqual(new Set([1, 2, 3]));
  for (let n = 0; n < 200; n++) expect(stream.float()).toBeLessThan(1);
});

test('mix32 spreads consecutive counters evenly over eight bins', () => {
  const bins = Array.from({ length: 8 }, () => 0);
  for (let n = 0; n < 8000; n++) {
    const bin = mix32(42, n) % 8;
    bins[bin] = (bins[bin] ?? 0) + 1;
  }
  for (const count of bins) expect(Math.abs(count - 1000)).toBeLessThan(150);
});
