/** The verdict and altered evidence: each kind is a change, and none escapes. */
import { afterAll, expect, test } from 'vitest';
import { evidenceMutants } from './kinds/index.ts';
import { EvidenceSuite } from './suite.ts';

const suite = new EvidenceSuite();
afterAll(() => suite[Symbol.dispose]());

test('the kinds are many, most are resealed, and no two have one name', () => {
  expect(evidenceMutants.length).toBeGreaterThanOrEqual(80);
  expect(evidenceMutants.filter(({ alter }) => alter !== undefined).length).toBeGreaterThan(50);
  const names = evidenceMutants.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

// A test each: all in one took 100 s without a pause, and minutes more on a machine that builds images.
test.each(evidenceMutants)('$name does not escape', (mutant) => {
  expect(suite.mutant(mutant)).toMatchObject({ proven: true, caught: true });
});

test.each([...new Set(evidenceMutants.map(({ base }) => base))])(
  'a twin of %s is not flagged',
  (base) => expect(suite.twin(base)).toMatchObject({ flagged: false }),
);
