import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { scriptArguments, typedAgain } from './typed.ts';

test('starts after the script under zx and under plain node', () => {
  const flags = ['--seed', '0x1F'];
  expect(scriptArguments('doctor', ['node', 'zx', 'experiments/doctor.mjs', ...flags])).toEqual(
    flags,
  );
  expect(scriptArguments('doctor', ['node', '/a/doctor.mjs', ...flags])).toEqual(flags);
});

test('keeps long seeds digit by digit', () => {
  const seed = '12345678901234567890';
  expect(scriptArguments('x', ['node', 'zx', 'x.mjs', '--seed', seed])).toEqual(['--seed', seed]);
});

test.each([
  [['--out', 'b'], ['--out', 'a', '--keep'], '--keep --out b'],
  [['--out', 'b'], ['--out=a'], '--out b'],
  [['--out', 'a b'], [], "--out $'a b'"],
  [['--out', 'c'], ['--out', 'a', '--keep', '--out', 'b', '--out=d'], '--keep --out c'],
  [['--partial'], ['--out', 'a'], '--out a --partial'],
  [[], ['--out', 'a'], '--out a'],
])('the typed command again, with %j after %j', (words, typed, shown) => {
  const argv = ['node', 'zx', 'experiments/x.mjs', ...typed];
  expect(typedAgain(words, argv)).toBe(`npx zx experiments/x.mjs ${shown}`);
});

test.each([
  [['/.bin/zx', 'experiments/x.mjs'], 'npx zx experiments/x.mjs a --out b'],
  [[resolve('experiments/x.mjs')], 'npx zx experiments/x.mjs a --out b'],
  [['bin/forcedetach.mjs', 'experiments/x.mjs'], 'npx zx experiments/x.mjs a --out b'],
])('the script is there however it was started: %j', (started, shown) => {
  expect(typedAgain(['--out', 'b'], ['node', ...started, 'a', '--out', 'c'])).toBe(shown);
});
