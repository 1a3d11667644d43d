import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { scriptArguments, typed, typedAgain } from './program.ts';

const zx = ['node', '/.bin/zx', 'experiments/x.mjs'];
const bin = ['node', '/a/node_modules/.bin/forcedetach'];
const plugin = ['node', '/a/kubectl-detach_probe'];

test.each([
  [zx, 'node-crash', 'npx zx experiments/node-crash.mjs --seed a'],
  [zx, 'matrix', 'npx zx experiments/matrix.mjs --seed a'],
  [zx, 'clean', 'npx forcedetach clean --seed a'],
  [bin, 'node-crash', 'npx forcedetach run node-crash --seed a'],
  [bin, 'matrix', 'npx forcedetach matrix --seed a'],
  [bin, 'clean', 'npx forcedetach clean --seed a'],
  [plugin, 'probe', 'kubectl detach-probe --seed a'],
])('started as %j, %s is typed %s', (argv, name, shown) => {
  expect(typed(name, ['--seed', 'a'], argv)).toBe(shown);
});

test.each([zx, ['node', resolve('experiments/x.mjs')], bin])(
  'a script’s own words keep every digit: %j',
  (...argv) => {
    const words = ['--seed', '0x1F', '12345678901234567890'];
    expect(scriptArguments([...argv, ...words])).toEqual(words);
  },
);

test.each([
  [['--out', 'b'], ['--out', 'a', '--keep'], '--keep --out b'],
  [['--out', 'b'], ['--out=a'], '--out b'],
  [['--out', 'a b'], [], "--out $'a b'"],
  [['--out', 'c'], ['--out', 'a', '--keep', '--out', 'b', '--out=d'], '--keep --out c'],
  [['--partial'], ['--out', 'a'], '--out a --partial'],
  [[], ['--out', 'a'], '--out a'],
])('the typed command again, with %j after %j', (words, before, shown) => {
  expect(typedAgain(words, [...zx, ...before])).toBe(`npx zx experiments/x.mjs ${shown}`);
  expect(typedAgain(words, [...bin, 'run', ...before])).toBe(`npx forcedetach run ${shown}`);
  expect(typedAgain(words, [...plugin, ...before])).toBe(`kubectl detach-probe ${shown}`);
});
