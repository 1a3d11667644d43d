/** What each remedy did on a kind of disk: counted from the store, and nothing that was not measured is. */
import { expect, test } from 'vitest';
import { readRuns, type RunLine } from './measurements.ts';
import { isMeasured, onSuchADisk } from './counted.ts';

const [some] = readRuns();
if (some === undefined) throw new Error('the store is empty');

let runs = 0;
const line = (
  scenario: RunLine['scenario'],
  more: Partial<RunLine> = {},
  verdict: RunLine['outcome']['verdict'] = 'corrupt',
): RunLine => {
  const id = String((runs += 1));
  return {
    ...some,
    ...{ id, event: id, basis: 'measured', source: 'here', date: '2026-11-27T20:00:00.000Z' },
    scenario: {
      ...{ 'fault.kind': 'network-partition', 'remedy.kind': 'force-delete' },
      ...scenario,
    },
    outcome: { ...some.outcome, verdict },
    ...more,
  };
};

const rowOf = (lines: readonly RunLine[], remedy = 'force-delete') => {
  const row = onSuchADisk('unfenced', lines).find(
    (each) => each.node === 'cut off, alive' && each.remedy === remedy,
  );
  if (row === undefined) throw new Error('there is no such row');
  return row;
};

test('fault events are counted with their bound, by timers; volumes of one count once', () => {
  const event = { event: 'one' };
  const lines = [
    line({}),
    line({}),
    line({}, event, 'lost'),
    line({}, event),
    line({}, { basis: 'shortened' }, 'safe'),
    line({}, { basis: 'shortened' }),
  ];
  expect(rowOf(lines)).toMatchObject({
    stock: 'corrupt 3 of 3 (44–100 %)',
    short: 'corrupt 1, safe 1 of 2 (not safe: 9–91 %)',
  });
});

test('what an earlier judge judged is not counted', () => {
  const earlier = [null, '2026-11-26T20:00:00.000Z'].map((date) => line({}, { date }));
  expect(rowOf([...earlier, line({})]).stock).toBe('corrupt 1 of 1 (21–100 %)');
  expect(isMeasured(rowOf(earlier))).toBe(false);
});

test('a run of something else, or one that proves nothing, counts for nothing', () => {
  const lines = [
    line({ 'fault.link': 'stalls' }),
    line({ 'disk.mode': 'fenced' }),
    line({ 'load.rate': 0 }),
    line({ 'database.trxCommit': 2 }),
    line({ 'kubernetes.admission': 'fencing-proof' }),
    line({}, {}, 'inconclusive'),
  ];
  const row = rowOf(lines);
  expect(isMeasured(row)).toBe(false);
  expect(row.reasoned).toMatchObject({ verdicts: expect.arrayContaining(['corrupt']) });
});
