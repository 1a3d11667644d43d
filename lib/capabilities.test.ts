import { expect, test } from 'vitest';
import { able } from './capabilities.ts';

interface Port {
  readonly freeze?: () => string;
  readonly thaw?: () => string;
}

test('a port is itself where it has what is said of it, and an error by name where it has not', () => {
  const whole: Port = { freeze: () => 'frozen', thaw: () => 'thawed' };
  expect(able(whole, 'machine', ['node-freeze', 'drain'])).toBe(whole);
  expect(able(whole, 'machine', ['node-freeze']).freeze()).toBe('frozen');
  const half: Port = { freeze: () => 'frozen' };
  expect(() => able(half, 'machine', ['node-freeze'])).toThrow(
    expect.objectContaining({
      ...{ code: 'CAPABILITY_UNTRUE', exitCode: 4 },
      message: 'this cluster’s machine cannot thaw',
    }),
  );
});
