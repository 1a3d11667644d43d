import fc from 'fast-check';
import { expect, test } from 'vitest';
import { answeredMs } from './heard.ts';
import { readJournal } from './record.ts';
import { clockOffsetOf } from '../view.ts';

const lines = [
  '1 start 1000.5 direct 4000',
  '2 ack 0 1001 2.5',
  '3 err 1 1050 0.1 EIO',
  '4 quiet 1060',
  '5 loud 1070',
  '6 scan 1080 3.2 0-0,2-9 1055.5',
  '7 scan 1090 3.2 none',
  '8 blind 1095 EIO',
  '9 term 1096',
  '10 end 1100',
];

test('what a pod said', () => {
  const journal = readJournal(lines);
  expect(journal).toEqual({
    ...{ startedMs: 1000.5, isDirect: true, quietMs: 1060, loudMs: 1070, termMs: 1096, gaps: 0 },
    endedMs: 1100,
    writes: [
      { seq: 0, begunMs: 1001, tookMs: 2.5 },
      { seq: 1, begunMs: 1050, tookMs: 0.1, error: 'EIO' },
    ],
    scans: [
      {
        atMs: 1080,
        youngestMs: 1055.5,
        ranges: [
          [0, 0],
          [2, 9],
        ],
      },
      { atMs: 1090, ranges: [] },
    ],
    blind: [{ atMs: 1095, error: 'EIO' }],
  });
  expect(journal.writes.map(answeredMs)).toEqual([1003.5, 1050.1]);
});

test('neither order nor repetition matters, and what is missing is counted', () => {
  fc.assert(
    fc.property(
      fc.shuffledSubarray(lines, { minLength: lines.length }),
      fc.subarray(lines),
      fc.integer({ min: 0, max: lines.length - 2 }),
      (all, again, gone) => {
        expect(readJournal([...all, ...again])).toEqual(readJournal(lines));
        expect(readJournal(all.filter((line) => line !== lines[gone])).gaps).toBe(1);
      },
    ),
  );
});

test('what is no line of a pod is a gap', () => {
  expect(readJournal(['hello', '1 what 5', '2 ack x y z']).gaps).toBe(3);
});

test('the clock of a node follows from the line that came fastest', () => {
  const came = [
    { line: '1 ack 0 1000 5', atMs: 4105 },
    { line: '2 ack 1 2000 5', atMs: 5025 },
    { line: '3 scan 9 9 9', atMs: 1 },
  ];
  expect(clockOffsetOf(came)).toBe(3020);
  expect(clockOffsetOf([])).toBeUndefined();
});
