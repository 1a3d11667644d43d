/** Licence, forced detaches and stale reads of whole runs on the model. */
import { combined } from '../../lib/scenario/index.ts';
import { expect, test } from 'vitest';
import type { ScenarioInput } from '../../lib/scenario/scenario.ts';
import type { Verdict } from '../../lib/judge/verdict/verdict.ts';
import { openHistory } from '../../lib/history/reader.ts';
import { modelScenario, runOnModel, shortTimers } from '../support/model-run.ts';

const run = async (fields: Partial<ScenarioInput>): Promise<Verdict> =>
  (await runOnModel(modelScenario(combined(shortTimers, fields)))).verdict;
/** A seed of the race in which the successor starts on what the victim is still writing. */
const successorServes = '2';
const codes = ({ findings }: Verdict): string[] => findings.map(({ code }) => code);

test('the replaced database answers stale reads, and each link of the licence has its record', async () => {
  const { verdict, folder } = await runOnModel(
    modelScenario({ ...shortTimers, remedy: { kind: 'force-delete' } }),
    successorServes,
  );
  expect(verdict.licenceGaps).toEqual([]);
  expect(verdict.licence.find(({ step }) => step === 'the pod object was gone')?.by).toBe(
    'the operator (remedy force-delete)',
  );
  const stale = verdict.findings.find(({ code }) => code === 'STALE_READS');
  expect(stale).toMatchObject({ level: 'note', safety: 'safe', loud: false });
  expect(stale?.summary).toContain('of the inside client');
  const reads = [...openHistory(folder).smallRecords()].filter(({ type }) => type === 'read');
  expect(reads.length).toBeGreaterThan(20);
  expect(codes(verdict)).not.toContain('FORCED_COUNT_DIFFERS');
});

test('the taint is a reason of its own, told by the log', async () => {
  const verdict = await run({ remedy: { kind: 'out-of-service' } });
  expect(verdict.licence.map(({ step }) => step)).toContain(
    'the attach/detach controller did not wait for the unmount, because of the taint',
  );
  expect(verdict.licenceGaps).toEqual([]);
});

test.each([
  ['node-crash', 'force-delete', 'the crash took the old node’s storage path away'],
  [
    'network-partition',
    'power-off-and-taint',
    'the old node was switched off, and its storage path with it',
  ],
] as const)('%s, %s: who took the storage path away', async (fault, remedy, step) => {
  const disk = { mode: 'unfenced' } as const;
  const { licence } = await run({ disk, fault: { kind: fault }, remedy: { kind: remedy } });
  const paths = licence.map((each) => each.step).filter((each) => each.includes('storage'));
  expect(paths).toEqual([step]);
});

test('after a crash the forced detach is of a volume that nobody has mounted', async () => {
  const verdict = await run({ fault: { kind: 'node-crash' }, remedy: { kind: 'force-delete' } });
  expect(codes(verdict)).toContain('FORCED_WITHOUT_MOUNT');
  expect(codes(verdict)).not.toContain('STALE_READS');
});

test('without a second mount there is no licence, and nothing is missing from it', async () => {
  const verdict = await run({ remedy: { kind: 'none' }, watch: { horizon: 60_000 } });
  expect([verdict.licence, verdict.licenceGaps]).toEqual([[], []]);
});
