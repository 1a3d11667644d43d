import { expect, test } from 'vitest';
import { Deadline } from './node-life.ts';

test('the first renewal seen may be old: only the next one is a sign of life', () => {
  const deadline = new Deadline(20_000);
  expect(deadline.isAlive(0)).toBe(false);
  deadline.note('a', 0);
  deadline.note('a', 5_000);
  expect(deadline.isAlive(5_000)).toBe(false);
  deadline.note('b', 6_000);
  expect(deadline.isAlive(6_000)).toBe(true);
});

test('a renewal counts from the asking, once', () => {
  const deadline = new Deadline(20_000);
  deadline.note('a', 0);
  deadline.note('b', 1_000);
  deadline.note('b', 15_000);
  expect(deadline.isAlive(20_999)).toBe(true);
  expect(deadline.isAlive(21_000)).toBe(false);
  expect(deadline.silentForMs(21_000)).toBe(20_000);
});

test('a new renewal ends it', () => {
  const deadline = new Deadline(20_000);
  deadline.note('a', 0);
  deadline.note('b', 1_000);
  expect(deadline.isAlive(60_000)).toBe(false);
  deadline.note('c', 60_000);
  expect(deadline.isAlive(60_001)).toBe(true);
});
