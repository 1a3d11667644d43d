/** The verdict and altered evidence: each kind is a change, and none escapes. */
import { expect, test } from 'vitest';
import { evidenceMutants } from './kinds/index.ts';
import { EvidenceSuite } from './suite.ts';

test('the kinds are many, most are resealed, and no two have one name', () => {
  expect(evidenceMutants.length).toBeGreaterThanOrEqual(80);
  expect(evidenceMutants.filter(({ alter }) => alter !== undefined).length).toBeGreaterThan(50);
  const names = evidenceMutants.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

test('none escapes, and no twin is flagged', () => {
  using suite = new EvidenceSuite();
  const escaped: string[] = [];
  for (const mutant of evidenceMutants) {
    const { name, said, caught } = suite.mutant(mutant);
    if (!caught) escaped.push(`${name}: ${said}`);
  }
  expect(escaped).toEqual([]);
  for (const base of new Set(evidenceMutants.map((mutant) => mutant.base))) {
    const twin = suite.twin(base);
    expect(twin, `${base}: ${twin.before} became ${twin.said}`).toMatchObject({ flagged: false });
  }
}, 300_000);
