/** The recorded mutants, judged again: with every checker, and with each one switched off. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { allCheckers } from '../../lib/judge/checkers/index.ts';
import { judgeCase } from '../../research/mutants/mutant-case.ts';
import { evidencePath, packCases, unpackCases } from '../../research/mutants/recorded.ts';
import { linesOf, type StoredLine } from '../../lib/batch/measurements.ts';
import { mutantSchema, twinSchema } from '../../lib/report/mutant-score.ts';
import { mysql } from '../../lib/mysql/database.ts';

const cases = unpackCases(readFileSync(evidencePath));
const mutants = cases.filter(({ damageClass }) => damageClass !== undefined);
const checkers = allCheckers(mysql);
const twins = cases.filter(({ damageClass }) => damageClass === undefined);

/**
 * Newer than the recorded evidence, which has nothing for them to judge. What they need to see is
 * planted by test/cluster/audit-workload.test.ts, and by hand in lib/judge/checkers/index.workload.test.ts.
 */
const notRecorded = new Set([
  ...['document-torn', 'document-missing', 'document-phantom', 'delete-half', 'delete-undone'],
  ...['schema-change', 'login', 'binlog'],
]);

describe('the recorded mutants', () => {
  test('are those of the page', () => {
    const measured = linesOf(mutantSchema);
    const ids = (all: readonly StoredLine[]): string[] => all.map(({ id }) => id).toSorted();
    expect(mutants.map(({ name }) => name).toSorted()).toEqual(ids(measured));
    expect(twins.map(({ name }) => name).toSorted()).toEqual(ids(linesOf(twinSchema)));
    expect(mutants.length).toBeGreaterThanOrEqual(24);
    for (const { outcome } of measured) {
      expect(outcome).toMatchObject({ proven: true, caught: true, named: true });
    }
  });

  test.each(mutants)('$name is caught, and named within its class', (mutant) => {
    expect(judgeCase(mutant)).toMatchObject({ caught: true, named: true });
  });

  test.each(twins)('$name is not flagged', (twin) => {
    expect(judgeCase(twin).findings.filter(({ level }) => level !== 'note')).toEqual([]);
  });

  test.each(checkers)('need the checker $name, or have nothing for it yet', (checker) => {
    const others = checkers.filter((each) => each !== checker);
    const missed = mutants.filter((mutant) => !judgeCase(mutant, others).named);
    expect(missed.length === 0).toBe(notRecorded.has(checker.name));
  });

  test('are packed without loss', () => {
    expect(unpackCases(packCases(cases.slice(0, 3)))).toEqual(cases.slice(0, 3));
  });
});
