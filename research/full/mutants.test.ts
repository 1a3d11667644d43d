/**
 * Plants every kind of damage for real; with FORCEDETACH_NOTE=1 it keeps the evidence that unit tests
 * judge again.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { judgeCase } from '../mutants/mutant-case.ts';
import { missingForBareHost } from '../../test/cluster/bare-lab.ts';
import { mutants } from '../mutants/kinds/index.ts';
import { oneInAMillion } from '../mutants/kinds/rows.ts';
import { keepMutant, keepSmallestLoss, keepTwin } from '../mutants/records.ts';
import { Suite } from '../mutants/suite.ts';

const reason = await missingForBareHost();
if (reason !== undefined) console.warn(`skipped: the mutants: ${reason}`);

const wanted = process.env['FORCEDETACH_CASES']?.split(',');
const chosen = mutants.filter(({ name }) => wanted?.includes(name) ?? true);
const bases = [...new Set(chosen.map(({ base }) => base))];

describe.skipIf(reason !== undefined)('mutants', () => {
  let suite: Suite;
  beforeAll(async () => {
    suite = await Suite.start((line) => console.log(`  ${line}`));
  });
  afterAll(() => suite[Symbol.asyncDispose]());

  test.runIf(wanted?.includes(oneInAMillion.name) ?? true)(
    'one commit of a million is seen, and none where none is gone',
    async () => {
      const twin = await suite.twin('million');
      expect(judgeCase(twin).findings).toEqual([]);
      const { effect, named, recorded } = await suite.mutant(oneInAMillion);
      expect(effect.proven).toBe(true);
      expect(named).toBe(true);
      const { length } = recorded.ops;
      const [found] = judgeCase(recorded).findings;
      expect(found?.summary).toContain(`1 of ${length} acknowledged commits`);
      keepSmallestLoss(oneInAMillion.name, { lost: 1, of: length }, await suite.versions());
    },
  );

  describe.each(bases)('of the volume %s', (base) => {
    test('the clean twin is not flagged', async () => {
      const twin = await suite.twin(base);
      const { findings, caught } = judgeCase(twin);
      keepTwin(twin, await suite.versions());
      expect(caught, JSON.stringify(findings)).toBe(false);
    });

    test.each(chosen.filter((mutant) => mutant.base === base))(
      '$name is effective, caught and named',
      async (mutant) => {
        const result = await suite.mutant(mutant);
        keepMutant(mutant, result, await suite.versions());
        expect(result).toMatchObject({ effect: { proven: true }, caught: true, named: true });
      },
    );
  });
});
