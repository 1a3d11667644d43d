/** What each remedy did on a kind of disk: counted from the store, and nothing that was not measured is. */
import { expect, test } from 'vitest';
import { diskModes } from '../disk-modes/index.ts';
import { readRuns, type RunLine } from './runs.ts';
import { isMeasured, onSuchADisk } from './on-such-a-disk.ts';

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
    ...{ id, event: id, basis: 'measured', source: 'here' },
    scenario: { fault: 'network-partition', remedy: 'force-delete', ...scenario },
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
  const event = { event: 'one', date: null };
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

test('a run of something else, or one that proves nothing, counts for nothing', () => {
  const lines = [
    line({ link: 'stalls' }),
    line({ disk: 'fenced' }),
    line({ rate: 0 }),
    line({ trxCommit: 2 }),
    line({}, {}, 'inconclusive'),
  ];
  const row = rowOf(lines);
  expect(isMeasured(row)).toBe(false);
  expect(row.reasoned).toMatchObject({ verdicts: expect.arrayContaining(['corrupt']) });
});

test('a late cut has a row for each delay that was measured', () => {
  const disk = 'ack-early';
  const lines = [line({ disk }, {}, 'lost'), line({ disk, cutAfterMs: 1000 }, {}, 'safe')];
  const rows = onSuchADisk(disk, lines).filter(isMeasured);
  expect(rows.map(({ cutAfterMs, stock }) => [cutAfterMs, stock])).toEqual([
    [1000, 'safe 1 of 1 (21–100 %)'],
    [10_000, 'lost 1 of 1 (21–100 %)'],
  ]);
  // Only of the default delay anybody said what to expect.
  expect(rows.map(({ reasoned }) => reasoned === undefined)).toEqual([true, false]);
});

test.each(diskModes)('%s: each remedy has a row, by reasoning at least', (mode) => {
  const rows = onSuchADisk(mode);
  for (const node of ['cut off, alive', 'dead']) {
    const remedies = new Set(rows.filter((row) => row.node === node).map((row) => row.remedy));
    expect([...remedies]).toEqual([
      'none',
      'force-delete',
      'out-of-service',
      'delete-node',
      'drain',
    ]);
  }
});
