import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SectorVersions } from './plan-states.ts';

test('writes may reach an image in any order: each sector ends with its youngest', () => {
  const range = fc.record({ first: fc.nat({ max: 9 }), count: fc.integer({ min: 1, max: 10 }) });
  const claim = fc.record({ index: fc.nat({ max: 20 }), range });
  fc.assert(
    fc.property(fc.array(claim, { size: 'max', maxLength: 30 }), (claims) => {
      const versions = new SectorVersions();
      const image = Array.from({ length: 20 }, () => -1);
      const plain = Array.from({ length: 20 }, () => -1);
      for (const {
        index,
        range: { first, count },
      } of claims) {
        const bytes = { offset: first * 512, length: count * 512 };
        expect(versions.claim(index, bytes)).toEqual(versions.unclaimed(index, bytes));
        for (const { offset, length } of versions.unclaimed(index, bytes)) {
          image.fill(index, offset / 512, (offset + length) / 512);
        }
        for (let sector = first; sector < first + count; sector += 1) {
          plain[sector] = Math.max(plain[sector] ?? -1, index);
        }
        expect(image).toEqual(plain);
      }
    }),
  );
  expect(() => new SectorVersions().claim(0, { offset: 0, length: 100 })).toThrow(/whole sectors/);
});
