import { expect, test } from 'vitest';
import { scriptArguments } from './typed.ts';

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
