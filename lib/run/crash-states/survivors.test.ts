import fc from 'fast-check';
import { expect, test } from 'vitest';
import { powerLosses } from '../../scenario/disk-kinds.ts';
import { randomStream } from '../../core/random.ts';
import { changesImage, drawnWrites } from '../../../test/support/memory-writes.ts';
import { survivors } from './plan-states.ts';

const indexes = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

test('survivors are unflushed writes, torn ones end at a sector, and the seed decides', () => {
  fc.assert(
    fc.property(drawnWrites, fc.constantFrom(...powerLosses), fc.string(), (log, policy, seed) => {
      const unflushed = indexes(log.length).filter((index) => changesImage(log, index));
      const kept = survivors(policy, log, unflushed, randomStream(seed));
      expect(survivors(policy, log, unflushed, randomStream(seed))).toEqual(kept);
      for (const { index, length } of kept) {
        expect(unflushed).toContain(index);
        expect(length % 512).toBe(0);
        const whole = log.at(index).length;
        if (policy === 'tears') expect(length).toBeGreaterThan(0);
        if (policy === 'tears') expect(length).toBeLessThan(whole);
        else expect(length).toBe(whole);
      }
      if (policy === 'keeps') expect(kept.map(({ index }) => index)).toEqual(unflushed);
      if (policy === 'drops') expect(kept).toEqual([]);
      const tearable = unflushed.some((index) => log.at(index).length > 512);
      if (policy === 'tears') expect(kept.length).toBe(tearable ? 1 : 0);
    }),
  );
});
