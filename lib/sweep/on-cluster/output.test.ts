/** Shards on other machines come to the sweep of this one, and a hole in what they say is seen. */
import { beforeAll, expect, test } from 'vitest';
import { islandSchedules, shardsOf, type SweepState } from '../sweep.ts';
import { parseResult, playShard, type ShardPlan } from './shard.ts';

const seed = 'a';
/** Little of two islands: the end of the first and the beginning of the second. */
const from = islandSchedules - 120;
const until = islandSchedules + 120;
const plan: ShardPlan = { seed, shards: shardsOf(from, until, 2) };
let logs: string[];

const parsed = (log: string | undefined, index: number): SweepState =>
  parseResult(log ?? '', seed, plan.shards[index] ?? { from: 0, until: 0 });

beforeAll(async () => {
  const lines = await Promise.all(plan.shards.map((_, index) => playShard(plan, index)));
  logs = lines.map((each) => each.join('\n'));
});

test('other lines between those of the result do no harm', () => {
  const noisy = logs[0]?.replaceAll('\n', '\n(node:1) Warning: something\n');
  expect(parsed(noisy, 0)).toEqual(parsed(logs[0], 0));
});

const lost = (log: string, line: number): string => log.split('\n').toSpliced(line, 1).join('\n');

test.each([
  ['nothing', (): string => ''],
  ['the begin is missing', (log: string): string => lost(log, 0)],
  ['a line is missing', (log: string): string => lost(log, 1)],
  ['the end is missing', (log: string): string => lost(log, -1)],
  ['cut in the middle', (log: string): string => log.slice(0, log.length / 2)],
  ['rotated: the beginning is gone', (log: string): string => log.slice(log.length / 2)],
  ['one letter is another', (log: string): string => log.replace(/(?<=data .{99})\w/, '=')],
  ['the head is cut', (log: string): string => log.replace(/}\n/, '\n')],
])('%s: the answer is refused, as inconclusive', (_, spoil) => {
  expect(() => parsed(spoil(logs[0] ?? ''), 0)).toThrow(
    expect.objectContaining({ code: 'SHARD_OUTPUT_CUT', exitCode: 3 }),
  );
});

test('the result of another shard, or of another seed, is refused', () => {
  const foreign = expect.objectContaining({ code: 'SHARD_OUTPUT_FOREIGN', exitCode: 3 });
  expect(() => parsed(logs[1], 0)).toThrow(foreign);
  const shard = plan.shards[0] ?? { from: 0, until: 0 };
  expect(() => parseResult(logs[0] ?? '', 'b', shard)).toThrow(foreign);
});
