import { assert, nat, property } from 'fast-check';
import { expect, test } from 'vitest';
import { formatDuration, parseDurationMs } from './time.ts';

test.each([
  ['30s', 30_000],
  ['6m', 360_000],
  ['500ms', 500],
  ['1h', 3_600_000],
  ['400', 400_000],
  ['1.5s', 1500],
  ['0', 0],
])('%s is %d ms', (text, ms) => {
  expect(parseDurationMs(text)).toBe(ms);
});

test.each(['', 's', '-1s', '1d', '1s2', '1e3', '0x10', 'soon'])('%j is no duration', (text) => {
  expect(parseDurationMs(text)).toBeUndefined();
});

test('what is formatted parses back to the same', () => {
  assert(property(nat(10_000_000), (ms) => parseDurationMs(formatDuration(ms)) === ms));
});
