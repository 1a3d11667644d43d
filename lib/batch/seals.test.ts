/** A batch that was altered, or whose runs are not those that it counted, counts for nothing. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { exampleBatch } from '../../test/support/example-batch.ts';
import { exampleCell } from '../../test/support/example-cell.ts';
import { sha256OfFile } from '../core/files.ts';
import { type Batch, runsOf, sealed } from './batch.ts';
import { type CountedRun, missingRuns, mustFitItsSeal, mustHaveItsRuns } from './seals.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'forcedetach-batch-seals-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const verdictOf = (run: string): string => join(folder, run, 'verdict.json');

function counted(run: string): Required<CountedRun> {
  mkdirSync(join(folder, run), { recursive: true });
  writeFileSync(verdictOf(run), run);
  return { folder: run, verdictSha256: sha256OfFile(verdictOf(run)) };
}

const altered = expect.objectContaining({ code: 'BATCH_ALTERED', exitCode: 3 }) as Error;

/** Two cells, each of a run that is there. */
function batchHere(): Batch {
  const cells = ['unfenced', 'fenced'].map((label) => ({
    ...exampleCell(label, 'safe', 0),
    runs: [{ ...counted(`cells/${label}`), verdict: 'safe' as const, sentence: '' }],
  }));
  const control = { ...counted('cells/control'), role: 'safe', label: '', holds: true } as const;
  return sealed(exampleBatch({ cells, controls: [{ ...control, trouble: '', silentLoss: null }] }));
}

const fits = (batch: unknown) => (): void => mustFitItsSeal(batch, 'batch.json');
/** As it comes back from its file, with the keys of each object the other way round. */
const readAgain = (batch: Batch): Batch =>
  JSON.parse(JSON.stringify(batch), (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toReversed())
      : value,
  ) as Batch;

test('as its batch wrote it, it fits its seal and has its runs', () => {
  const batch = readAgain(batchHere());
  expect(batch.seal).toMatch(/^[0-9a-f]{64}$/);
  expect(fits(batch)).not.toThrow();
  expect(missingRuns(folder, runsOf(batch))).toEqual([]);
});

test.each<[string, (batch: Batch) => object]>([
  [
    'a verdict',
    ({ cells: [a, b], ...batch }) => ({ ...batch, cells: [{ ...a, verdict: 'lost' }, b] }),
  ],
  ['a cell that is gone', ({ cells: [a], ...batch }) => ({ ...batch, cells: [a] })],
  ['cells in another order', ({ cells, ...batch }) => ({ ...batch, cells: cells.toReversed() })],
  ['a control that is gone', (batch) => ({ ...batch, controls: [] })],
  ['its verdict', (batch) => ({ ...batch, verdict: 'open' })],
  ['its seal', (batch) => ({ ...batch, seal: '0'.repeat(64) })],
  ['no seal', ({ seal: _seal, ...batch }) => batch],
])('altered it is refused: %s', (_, alter) => {
  const batch = batchHere();
  expect(fits(alter(batch))).toThrow(altered);
});

test('one of before has no seal, and is not held against one', () => {
  const batch = exampleBatch({});
  expect(sealed(batch)).toEqual(batch);
  expect(fits(batch)).not.toThrow();
  expect(missingRuns(folder, runsOf(batch))).toEqual([]);
});

test('another verdict in the place of the one that was counted is refused', () => {
  const batch = batchHere();
  writeFileSync(verdictOf('cells/fenced'), 'cells/unfenced');
  expect(() => missingRuns(folder, runsOf(batch))).toThrow(altered);
  expect(() => missingRuns(folder, runsOf(batch))).toThrow(/cells\/fenced\/verdict\.json is not/);
});

test('one that is gone is named', () => {
  const batch = batchHere();
  rmSync(verdictOf('cells/control'));
  expect(missingRuns(folder, runsOf(batch))).toEqual(['cells/control']);
  expect(() => mustHaveItsRuns(folder, runsOf(batch))).toThrow(altered);
});
