/** The readers on runs of the model, and on samples of which they must say that they can't tell. */
import { expect, test } from 'vitest';
import type { ScenarioInput } from '../../lib/experiment/scenario.ts';
import { modelScenario, runOnModel, shortTimers } from '../../test/support/model-run.ts';
import { readAnswers, type AnsweredClaim } from './answer.ts';

/** Answers by number; a string where there is none. */
async function askedOfModel(
  fields: Partial<ScenarioInput>,
): Promise<Map<number, AnsweredClaim['reading']>> {
  const { folder } = await runOnModel(modelScenario({ ...shortTimers, ...fields }));
  return new Map(readAnswers(folder).map(({ claim, reading }) => [claim.number, reading]));
}

const expectedOf = (reading: AnsweredClaim['reading'] | undefined): boolean | string | undefined =>
  typeof reading === 'object' ? reading.asExpected : reading;

test('a partition without remedy: nobody mounts a second time, and the eviction is a record', async () => {
  // Longer than a healed kubelet may stay unheard, which would be a reason to detach by force.
  const told = await askedOfModel({ remedy: 'none', forceDetachAfterMs: 60_000 });
  for (const number of [9, 12, 14, 15, 16])
    expect(expectedOf(told.get(number)), `${number}`).toBe(true);
  expect(told.get(10)).toBe('no operator acted');
  expect(told.get(8)).toMatch(/nothing was detached by force/);
});

test('a partition with force-delete: the timer, the licence, two writers', async () => {
  const told = await askedOfModel({ remedy: 'force-delete', disk: 'unfenced' });
  for (const number of [6, 8, 10, 17]) expect(expectedOf(told.get(number)), `${number}`).toBe(true);
  expect(told.get(1)).toMatch(/forced/);
  expect(told.get(9)).toBe('an operator acted');
});

test.each(['1.36', '1.37'])('the refused attach is read as %s says it', async (kubernetes) => {
  const told = await askedOfModel({ remedy: 'force-delete', kubernetes });
  expect(told.get(22)).toMatchObject({
    asExpected: true,
    said: expect.stringContaining(kubernetes === '1.37' ? 'Waiting for detach' : 'Multi-Attach'),
  });
});

test('a disk that fences answers neither for the licence nor for damage', async () => {
  const told = await askedOfModel({ remedy: 'force-delete', disk: 'fenced' });
  expect(told.get(10)).toBe('the disk decides here');
  expect(told.get(17)).toBe('two did not write');
});

test('a crash: given up after the grace', async () => {
  const told = await askedOfModel({ fault: 'node-crash', remedy: 'force-delete' });
  expect(expectedOf(told.get(11))).toBe(true);
  expect(told.get(12)).toBe('nothing was cut off');
});
