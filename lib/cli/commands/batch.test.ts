/** A batch's page is made of many runs: one of them that is damaged must not spoil it. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi, onTestFinished } from 'vitest';
import type { Batch } from '../../batch/batch.ts';
import { exampleBatch } from '../../../test/support/example-batch.ts';
import { readBatch, writeBatch, lockBatch } from './batch.ts';

const folder = mkdtempSync(join(tmpdir(), 'forcedetach-batch-'));
afterAll(() => rmSync(folder, { recursive: true }));

const phases = {
  ...{ notReady: 40, evicted: 80, podRemoved: 90, detached: 100, attached: 101 },
  ...{ secondMount: 110, recovered: 115, firstCommit: 120 },
};
const rate = { count: 0, of: 1, low: 0, high: 1 };
const cell = (id: string): Batch['cells'][number] => ({
  ...{ id, label: id, place: {}, verdict: 'safe', expected: ['safe'], expectedServing: 'open' },
  ...{ because: 'it is made up', asExpected: true, damaged: rate, unsafe: rate, silent: 0 },
  verdicts: { safe: 1, exposed: 0, lost: 0, corrupt: 0, inconclusive: 0 },
  median: {
    ...{ lost: 0, unreadableBeforeHeal: 0, gone: 0, missingAfterHeal: 0, acked: 1 },
    ...{ downtimeS: 1, exposureS: 0, secondMountS: 1 },
  },
  runs: [{ folder: `cells/${id}`, verdict: 'safe', sentence: 'made up' }],
  discarded: 0,
});

test.each([
  ['cut', '{"phases": {"notReady": 4'],
  ['of a later version', JSON.stringify({ schemaVersion: 2, phases, versions: {} })],
  ['null', 'null'],
])('a verdict.json that is %s is left out, told, and the others are shown', async (_, bad) => {
  for (const [id, text] of Object.entries({
    good: JSON.stringify({ schemaVersion: 1, phases, versions: { mysql: '9.7.3' } }),
    bad,
  })) {
    mkdirSync(join(folder, 'cells', id), { recursive: true });
    writeFileSync(join(folder, 'cells', id, 'verdict.json'), text);
  }
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const batch = exampleBatch({ cells: [cell('good'), cell('bad')] });
  const told = await writeBatch(folder, batch, 'again');
  const said = write.mock.calls.map(([text]) => String(text));
  write.mockRestore();
  expect(told.versions).toEqual({ mysql: ['9.7.3'] });
  expect(readFileSync(join(folder, 'report.html'), 'utf8')).toContain('database recovery');
  expect(said.filter((line) => line.includes('cells/bad/verdict.json'))).toHaveLength(1);
});

test('labels quote a value with a comma in it, in the grid and outside', () => {
  const { cells, checks } = readBatch('reports/matrix/default');
  const labels = [...cells, ...checks].map(({ label }) => label);
  expect(labels).toContain('case “cut off, force-delete”, storage “exclusive, watchers unseen”');
  expect(labels.filter((label) => label.split(', ').length > 4)).toEqual([]);
  expect(checks.every(({ label }) => label.includes('”'))).toBe(true);
});

test('a batch has one process at a time, whatever its folder is called by', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'forcedetach-lock-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const alias = join(folder, 'alias');
  symlinkSync(folder, alias);
  const first = await lockBatch(folder);
  await expect(lockBatch(alias)).rejects.toMatchObject({
    code: 'BATCH_BUSY',
    message: expect.stringContaining(`process ${process.pid}`) as string,
  });
  await first.release();
  await (await lockBatch(alias)).release();
});
