import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Kernel } from './kernel.ts';

test('timers fire in order of time, ties in order of scheduling', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20), { maxLength: 200 }), (delays) => {
      const kernel = new Kernel();
      const fired: [number, number][] = [];
      delays.forEach((delay, index) => kernel.schedule(delay, () => fired.push([delay, index])));
      while (kernel.step()) expect(kernel.nowUs).toBe(fired.at(-1)?.[0]);
      const expected = delays
        .map((delay, index): [number, number] => [delay, index])
        .toSorted(([a, i], [b, j]) => a - b || i - j);
      expect(fired).toEqual(expected);
    }),
  );
});
