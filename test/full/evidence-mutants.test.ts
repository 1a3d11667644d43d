/** The verdict and altered evidence: each kind is a change, and none escapes. `npm test` plays those of switched-off.test.ts. */
import { afterAll, expect, test } from 'vitest';
import { evidenceMutants } from '../evidence-mutants/kinds/index.ts';
import { EvidenceSuite } from '../evidence-mutants/suite.ts';

const suite = new EvidenceSuite();
afterAll(() => suite[Symbol.dispose]());

test('the kinds are many, most are resealed, and no two have one name', () => {
  expect(evidenceMutants.length).toBeGreaterThanOrEqual(80);
  expect(evidenceMutants.filter(({ alter }) => alter !== undefined).length).toBeGreaterThan(30);
  const names = evidenceMutants.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

test.each(evidenceMutants)('$name does not escape', (mutant) => {
  expect(suite.mutant(mutant)).toMatchObject({ proven: true, caught: true });
});

test.each([...new Set(evidenceMutants.map(({ base }) => base))])(
  'a twin of %s is not flagged',
  (base) => expect(suite.twin(base)).toMatchObject({ flagged: false }),
);
