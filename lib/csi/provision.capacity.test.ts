import { expect, test } from 'vitest';
import { fitsCapacity, sizeFor } from './provision.ts';

const mebibyte = 2 ** 20;
const range = (required: number, limit = 0): { requiredBytes: bigint; limitBytes: bigint } => ({
  requiredBytes: BigInt(required),
  limitBytes: BigInt(limit),
});

test('a size is the next whole mebibyte, and large enough for a file system', () => {
  expect(sizeFor(undefined)).toBe(1024 * mebibyte);
  expect(sizeFor(range(0))).toBe(1024 * mebibyte);
  expect(sizeFor(range(1))).toBe(16 * mebibyte);
  expect(sizeFor(range(100 * mebibyte))).toBe(100 * mebibyte);
  expect(sizeFor(range(100 * mebibyte + 1))).toBe(101 * mebibyte);
});

test('a limit holds, also for what is rounded up', () => {
  expect(sizeFor(range(0, 64 * mebibyte))).toBe(64 * mebibyte);
  expect(() => sizeFor(range(64 * mebibyte + 1, 64 * mebibyte + 2))).toThrow(/no size fits/);
  expect(() => sizeFor(range(0, mebibyte))).toThrow(/no size fits/);
  expect(() => sizeFor(range(2 ** 44))).toThrow(/no size fits/);
});

test('a volume that exists fits what it was made for, and not what it is too small or large for', () => {
  const asked = range(100 * mebibyte + 1);
  expect(fitsCapacity(sizeFor(asked), asked)).toBe(true);
  expect(fitsCapacity(64 * mebibyte, range(65 * mebibyte))).toBe(false);
  expect(fitsCapacity(64 * mebibyte, range(1, 63 * mebibyte))).toBe(false);
  expect(fitsCapacity(64 * mebibyte, undefined)).toBe(true);
});
