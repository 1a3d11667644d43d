import { expect, test } from 'vitest';
import { memoryWrites } from '../../../test/support/memory-writes.ts';
import { runRecord, see } from '../../../test/support/run-record.ts';
import { csiCalls, observed } from '../../history/observations.ts';
import type { SmallRecord } from '../../history/reader.ts';
import { writeOps } from '../../history/writes.ts';
import { tellStory } from '../../timeline/story.ts';
import { disagreements } from './disagreements.ts';
import { mysql } from '../../mysql/database.ts';

const begun: SmallRecord[] = [
  runRecord(),
  {
    ...{ type: 'action', t: 10_000, actor: 'fault', name: 'network-partition' },
    ...{ step: 'begin', node: 'a' },
  },
  { type: 'phase', t: 899_000, phase: 'heal' },
];
const staged = see(100_000, observed.csiCall, 'b', { call: csiCalls.stage, durationMs: 500 });
const mounted = see(100_400, observed.mounted, 'b', { generation: 2 });

const compared = (records: readonly SmallRecord[]): string[] =>
  disagreements(
    tellStory(
      [...begun, ...records].toSorted((a, b) => a.t - b.t),
      mysql,
    ),
    undefined,
  );

test('what the driver staged is seen mounted, and what is mounted was staged', () => {
  expect(compared([staged, mounted])).toEqual([]);
  expect(compared([staged])).toEqual([
    'NodeStageVolume succeeded on b at 100.5 s, and no observer saw the volume mounted there',
  ]);
  expect(compared([mounted])).toEqual([
    'the volume was mounted on b at 100.4 s, and the driver reports no NodeStageVolume',
  ]);
});

test('a stage that failed, or was undone at once, needs no mount', () => {
  expect(compared([{ ...staged, data: { ...staged.data, error: 'FSCK_REFUSED' } }])).toEqual([]);
  const undone = see(101_000, observed.csiCall, 'b', { call: csiCalls.unstage, durationMs: 9 });
  expect(compared([staged, undone])).toEqual([]);
});

const mebibyte = 1024 ** 2;
const log = memoryWrites([
  { op: writeOps.write, generation: 1, length: 8 * mebibyte },
  { op: writeOps.zero, generation: 2, length: 8 * mebibyte },
]);
const counter = (bytesWritten: number): SmallRecord =>
  see(20_000, observed.deviceWritten, 'a', { generation: 1, bytesWritten });

test('the log of writes and the devices tell of the same bytes', () => {
  const logged = (records: readonly SmallRecord[]): string[] =>
    disagreements(tellStory([...begun, ...records], mysql), log);
  expect(logged([counter(8 * mebibyte)])).toEqual([]);
  expect(logged([])).toEqual([
    'the log of writes has 8388608 bytes of generation 1, and the devices’ observer saw 0',
  ]);
  expect(logged([counter(10 * mebibyte)])).toEqual([
    'the devices’ observer saw 10485760 bytes of generation 1, and the log of writes has 8388608',
  ]);
  // The path was opened again and counts anew.
  expect(logged([counter(5 * mebibyte), counter(3 * mebibyte)])).toEqual([]);
});
