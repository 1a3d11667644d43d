/** The quick part of the mutants: one of each way of planting, on one volume. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { judgeCase } from '../../research/mutants/mutant-case.ts';
import { mutants } from '../../research/mutants/kinds/index.ts';
import { Suite } from '../../research/mutants/suite.ts';
import { missingForBareHost } from './bare-lab.ts';

const reason = await missingForBareHost();
if (reason !== undefined) console.warn(`skipped: the quick mutants: ${reason}`);

const quick = ['bit-flip', 'torn-row', 'one-of-32', 'older-table', 'ext4-metadata', 'journal-cut'];

describe.skipIf(reason !== undefined)('mutants', { timeout: 900_000 }, () => {
  let suite: Suite;
  beforeAll(async () => {
    suite = await Suite.start((line) => console.log(`  ${line}`));
  });
  afterAll(() => suite[Symbol.asyncDispose]());

  test('their clean twin is not flagged', async () => {
    expect(judgeCase(await suite.twin('written')).caught).toBe(false);
  });

  test.each(quick)('%s is effective, caught and named', async (name) => {
    const mutant = mutants.find((each) => each.name === name);
    if (mutant === undefined) throw new Error(`there is no mutant ${name}`);
    const result = await suite.mutant(mutant);
    expect(result).toMatchObject({ effect: { proven: true }, caught: true, named: true });
  });
});
