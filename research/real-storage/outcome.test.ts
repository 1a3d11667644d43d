/** Journals, the log and the blocks at the end are read for what they say, and for nothing else. */
import { expect, test } from 'vitest';
import { readJournal } from './journal.ts';
import { landedWithoutLog, lostOf, watch } from './outcome.ts';
import { blockBytes, blockOf, fillBlock, sharedBlock, tokenIn, type Token } from './token.ts';

const window = { fromMs: 1000, toMs: 31_000 };
const of = (...lines: readonly string[]) => readJournal(lines);

test.each([
  ['goes on', ['asks 1 900', 'done 1 1100', 'asks 2 30000', 'done 2 30001']],
  ['error', ['asks 1 900', 'fails 1 1100 EIO', 'asks 2 30000', 'fails 2 30001 EIO']],
  ['hangs', ['asks 1 900', 'done 1 1100', 'asks 2 1150']],
  ['hangs', ['asks 1 900']],
  ['nothing', ['asks 1 800', 'done 1 900']],
  // It was ended after the watch.
  ['hangs', ['asks 1 900', 'fails 1 31500 EIO']],
  // An error, and then it came back.
  ['goes on', ['asks 1 900', 'fails 1 1100 EIO', 'asks 2 29000', 'done 2 29001']],
] as const)('what a node gets at the end of a watch: %s', (at, lines) => {
  expect(watch(of(...lines), undefined, window).at).toBe(at);
});

test('errors count from the beginning of a revocation, acknowledgements from its return', () => {
  const journal = of('asks 1 900', 'done 1 1020', 'asks 2 1030', 'fails 2 1090 EIO', 'asks 3 1100');
  const seen = watch(journal, [], { ...window, countedMs: 1050 });
  expect(seen).toMatchObject({ at: 'hangs', acks: 0, errors: 1, error: 'EIO', errorMs: 90 });
  expect(seen).toMatchObject({ lastAckMs: 20, landed: 0, landedMs: null, replayed: 0 });
});

test('a write that was asked before the heal and lands after it is a replay', () => {
  const journal = of('asks 7 400', 'done 7 3000', 'asks 8 3050', 'done 8 3060');
  const at = (atMs: number, seq: number) => ({
    node: 'a' as const,
    atMs,
    token: { node: 'a' as const, seq },
  });
  const landed = [at(500, 6), at(2999, 7), { node: 'b' as const, atMs: 3000 }, at(3055, 8)];
  expect(watch(journal, landed, window)).toMatchObject({ landed: 2, landedMs: 1999, replayed: 1 });
  const bare = landed.map(({ node, atMs }) => ({ node, atMs }));
  expect(watch(journal, bare, window)).toMatchObject({ landed: 2, replayed: null });
});

test('without a log, what the second node reads over its own, and what is there at the end, has landed', () => {
  const first = of('asks 1 300', 'done 1 500', 'asks 4 600', 'asks 6 700', 'asks 5 800');
  const second = of('finds 2 1000', 'asks 2 1100', 'done 2 1200', 'finds 4 2000', 'finds 4 2500');
  const tokens: readonly Token[] = [
    { node: 'a', seq: 1 },
    { node: 'a', seq: 5 },
    { node: 'b', seq: 1 },
  ];
  const landed = landedWithoutLog(first.asked, second, tokens);
  const found = landed.map(({ token, atMs }) => [token?.seq, atMs]);
  expect(found).toEqual([
    [1, 500],
    [5, 800],
    [4, 2000],
  ]);
});

test('an acknowledged write is lost where its block holds an older one, and nobody else writes that block', () => {
  const journal = of(
    'asks 1 1',
    'done 1 2',
    'asks 2 3',
    'done 2 4',
    'asks 513 5',
    'done 513 6',
    'asks 3 7',
  );
  expect(blockOf({ node: 'a', seq: 513 })).toBe(blockOf({ node: 'a', seq: 1 }));
  expect(blockOf({ node: 'b', seq: 2 })).toBe(sharedBlock);
  const lost = (there: Token | undefined) => lostOf('a', journal.asked, () => there);
  expect(lost({ node: 'a', seq: 513 })).toEqual([]);
  expect(lost({ node: 'a', seq: 1 })).toEqual([{ node: 'a', seq: 513 }]);
  expect(lost(undefined)).toEqual([{ node: 'a', seq: 513 }]);
});

test('a read that fails is an error; lateness is the worst', () => {
  const { asked, lateMs } = of('late 300', 'fails 2 50 EIO', 'late 200');
  expect(asked).toEqual([{ seq: 2, atMs: 50, endedMs: 50, error: 'EIO' }]);
  expect(lateMs).toBe(300);
});

test('a block names its writer, and two writes in one are noticed', () => {
  const block = Buffer.alloc(blockBytes);
  expect(tokenIn(block)).toBeUndefined();
  fillBlock(block, { node: 'b', seq: 77 });
  expect(tokenIn(block)).toEqual({ node: 'b', seq: 77 });
  block[blockBytes - 1] = 1;
  expect(() => tokenIn(block)).toThrow('torn');
});
