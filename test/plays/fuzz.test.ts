/** Hundreds of strange inputs, spread over all commands (test:full has twenty thousand); and the suite itself notices what it is there for. */
import { expect, test } from 'vitest';
import type { FuzzCase, Surface } from '../fuzz/case.ts';
import { failuresOf, fuzz, placeOf } from '../fuzz/suite.ts';

const seed = 'ci';

// Hundreds of commands.
test('no stack trace, no hang, no wrong exit code', { timeout: 120_000 }, async () => {
  const onProgress = (line: string): void => console.log(`fuzz, seed ${seed}: ${line}`);
  const result = await fuzz({ seed, cases: 350, spawnEvery: 30, onProgress });
  console.log(JSON.stringify({ fields: result.fields, spread: result.spread }));
  expect(result.failures).toEqual([]);
  const perCommand = Object.values(result.spread).map((surfaces) =>
    Object.values(surfaces).reduce((sum, count) => sum + count, 0),
  );
  expect(Math.max(...perCommand) - Math.min(...perCommand)).toBeLessThanOrEqual(1);
  expect(result.spawned).toBeGreaterThan(10);
});

const drawn: FuzzCase = {
  ...{ number: 1, command: 'x', surface: 'flags', field: 'f', how: 'h', args: [], allowed: [0, 2] },
};
const good = { code: 2, stdout: '', stderr: 'BAD_FLAG: no\n  hint: help\n' };

test.each([
  ['hang', undefined],
  ['stackTrace', { ...good, stderr: `${good.stderr}    at run (file:///a/lib/b.ts:1:2)\n` }],
  ['wrongCode', { ...good, code: 4 }],
  ['wrongCode', { ...good, code: undefined }],
  ['wrongForm', { ...good, stderr: 'error: what?\n' }],
  ['obeyed', { ...good, stdout: 'red \u001b[31m\n' }],
  ['polluted', { ...good, polluted: ['next'] }],
])('%s is noticed', (fault, result) => {
  expect(failuresOf(drawn, result).map((failure) => failure.fault)).toEqual([fault]);
});

test('what is as it must be is no failure', () => {
  expect(failuresOf(drawn, good)).toEqual([]);
});

const surface = (name: string, fields: readonly string[]): Surface => ({
  ...{ name, fields, make: () => ({ args: [], how: '', allowed: [] }) },
});

test('every field of every surface has its turn before any has another, and the seed decides', () => {
  const surfaces = new Map([
    ['one', [surface('a', ['1', '2', '3'])]],
    ['two', [surface('b', ['1', '2', '3']), surface('c', ['1', '2', '3'])]],
  ]);
  const places = (of: string): string[] =>
    Array.from({ length: 12 }, (_, index) => placeOf(index, surfaces, of)).map(
      ({ command, surface: { name }, field }) => `${command} ${name} ${field}`,
    );
  expect(new Set(places('x')).size).toBe(9);
  expect(places('x').filter((place) => place.startsWith('two'))).toHaveLength(6);
  expect(places('x')).toEqual(places('x'));
  expect(places('x')).not.toEqual(places('y'));
});
