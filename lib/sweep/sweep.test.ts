import { expect, test } from 'vitest';
import { judge } from './judge.ts';
import { sweepPool, newSweep, sweep, type SweepState, islandSchedules, shardsOf } from './sweep.ts';
import { reportOf } from './report.ts';
import { shrink } from './findings.ts';
import { changedFields } from './schedule.ts';
import { playRange, emptyTally, joinTally } from './tally.ts';

const count = 160;
const whole = playRange({ seed: 'a', corpus: [], from: 0, count });

test('a sweep comes to the same whole, however many threads play it in whatever parts', () => {
  const joined = emptyTally();
  for (const from of [120, 0, 40, 80]) {
    joinTally(joined, playRange({ seed: 'a', corpus: [], from, count: 40 }));
  }
  expect(joined).toEqual(whole);
});

test('it finds two writers on an unfenced disk, and nothing that contradicts what must hold', () => {
  const report = reportOf({ seed: 'a', tally: whole });
  expect(report.schedules).toBe(count);
  expect(report.virtualHours).toBeGreaterThanOrEqual((count * 15) / 60);
  expect(report.findings.some(({ broken }) => broken.includes('lost'))).toBe(true);
  expect(report.surprises).toEqual([]);
});

test('a finding shrinks to fewer fields, and still shows itself', () => {
  const found = Object.values(whole.findings).find(
    ({ broken, scenario }) => broken.includes('corrupt') && scenario.remedy.kind === 'force-delete',
  );
  if (found === undefined) throw new Error('nothing found');
  const { key, scenario, seed } = found;
  const shrunk = shrink({ scenario, seed, shows: (outcome) => judge(outcome).key === key });
  expect(judge(shrunk.outcome).key).toBe(key);
  expect(changedFields(shrunk.scenario).length).toBeLessThanOrEqual(changedFields(scenario).length);
  expect(changedFields(shrunk.scenario).length).toBeLessThanOrEqual(4);
});

test('a sweep that was stopped goes on as if it had not been', async () => {
  await using pool = sweepPool(1);
  const rounds = { pool, goesOn: () => true, onRound: () => undefined };
  const upTo = (from: SweepState, untilIndex: number): Promise<SweepState> =>
    sweep({ ...rounds, from, untilIndex });
  const half = await upTo(newSweep('a'), 80);
  const resumed = await upTo(JSON.parse(JSON.stringify(half)) as SweepState, count);
  expect(resumed.tally).toEqual(whole);
});

const islands = (count: number): number => count * islandSchedules;

test('shards are whole islands, as even as may be, and leave nothing out', () => {
  expect(shardsOf(0, islands(3), 2)).toEqual([
    { from: 0, until: islands(1) },
    { from: islands(1), until: islands(3) },
  ]);
  expect(shardsOf(islands(1), islands(2) + 7, 2)).toEqual([
    { from: islands(1), until: islands(2) },
    { from: islands(2), until: islands(2) + 7 },
  ]);
  const many = shardsOf(0, islands(1000) - 1, 37);
  expect(many.map(({ from }) => from).slice(1)).toEqual(
    many.map(({ until }) => until).slice(0, -1),
  );
  expect([many[0]?.from, many.at(-1)?.until]).toEqual([0, islands(1000) - 1]);
});

test('more shards than islands are refused, and the hint says how many there may be', () => {
  expect(() => shardsOf(0, islands(1) + 1, 3)).toThrow(
    expect.objectContaining({
      code: 'TOO_MANY_SHARDS',
      exitCode: 2,
      hint: expect.stringContaining('at most --shards 2'),
    }),
  );
});
