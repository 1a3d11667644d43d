/** A run that shares its fault event: what it leaves for the time while it waits. */
import { expect, test } from 'vitest';
import { barriersFor, type Barrier } from '../../lib/cluster/barrier.ts';
import { openHistory } from '../../lib/history/reader.ts';
import { modelScenario, runOnModel, shortTimers } from '../support/model-run.ts';

const scenario = modelScenario({ ...shortTimers, remedy: 'force-delete', disk: 'fenced' });

/** When the steady image was audited, and when the victim was broken, ms. */
function times(folder: string): { readonly audited: number; readonly broken: number } {
  const records = [...openHistory(folder).smallRecords()];
  const audited = records.find((record) => record.type === 'image' && record.image === 'steady');
  const broken = records.find((record) => record.type === 'phase' && record.phase === 'watch');
  if (audited === undefined || broken === undefined) throw new Error('it is not a whole run');
  return { audited: audited.t, broken: broken.t };
}

test('alone it audits the steady image before anything is broken', async () => {
  const { folder, verdict } = await runOnModel(scenario);
  const { audited, broken } = times(folder);
  expect(verdict.verdict).toBe('safe');
  expect(audited).toBeLessThan(broken);
});

test('beside others it audits it during the wait, and comes to the same', async () => {
  const gates: string[] = [];
  const [barrier] = barriersFor(1);
  if (barrier === undefined) throw new RangeError('one barrier');
  const event: Barrier = {
    ...barrier,
    pass(gate) {
      gates.push(gate);
      return barrier.pass(gate);
    },
  };
  const { folder, verdict } = await runOnModel(scenario, '1', { event });
  const { audited, broken } = times(folder);
  expect(gates).toEqual(['fault', 'break', 'heal', 'undo']);
  expect({ verdict: verdict.verdict, incomplete: verdict.incompleteBecause }).toEqual({
    verdict: 'safe',
    incomplete: [],
  });
  expect(audited).toBeGreaterThan(broken);
});
