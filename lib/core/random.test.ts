import { expect, test } from 'vitest';
import { randomStream } from './random.ts';

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
