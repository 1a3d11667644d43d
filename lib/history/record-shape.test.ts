/** What a line must be to count as a record; fields that are optional, too, are what they are said to be. */
import { expect, test } from 'vitest';
import { decodeLines, ignoring, recordOf as recordAt } from './lines.ts';

/** As the thousandth of its segment. */
const recordOf = (value: unknown): object => recordAt(value, 1000);

const seen = { type: 'observation', t: 1, source: 'api', name: 'node-ready', data: {} };

test('a record with all that readers rely on is one, with and without what is optional', () => {
  expect(recordOf(seen)).toBe(seen);
  expect(recordOf({ ...seen, node: 'a', wall: 5 })).toMatchObject({ node: 'a' });
  const short = { type: 'outcome', t: 1, client: 'in', connection: 0, session: 1 };
  expect(() => recordOf(short)).toThrow('not a record');
});

test.each<[string, object]>([
  ['a node that no text can be made of', { ...seen, node: { toString: null } }],
  ['a node that is null', { ...seen, node: null }],
  ['a list of them', { ...seen, node: ['a'] }],
  ['a wall time in words', { ...seen, wall: 'noon' }],
  ['a detail', { type: 'action', t: 1, actor: 'fault', name: 'x', step: 'begin', detail: {} }],
  ['a pressure', { type: 'machine', t: 1, timerLagMs: 0, cpuPressure: '9' }],
])('an optional field of another kind makes it none: %s', (_what, value) => {
  expect(() => recordOf(value)).toThrow('not a record');
});

test.each<[string, object]>([
  ['lacks a field', { ...seen, name: 'pod-ready', data: { pod: 'p', uid: 'u' } }],
  [
    'has another kind of value',
    { ...seen, name: 'pod-ready', data: { pod: 'p', uid: 7, ready: true } },
  ],
  ['has a value that is none of its words', { ...seen, data: { status: 'Maybe' } }],
])('an observation is refused that %s', (_what, value) => {
  expect(() => recordOf(value)).toThrow(/an observation [\w-]+ is not valid/);
});

test('an observation of a name that no observer gives is a note', () => {
  expect(recordOf({ ...seen, name: 'step', data: { step: 'x' } })).toMatchObject({
    type: 'note',
    name: 'step',
  });
});

const operation = { type: 'invoke', t: 1, client: 'in', connection: 63, session: 999, seq: 999 };

test.each<[string, object, string]>([
  ['a sequence number beyond the records', { ...operation, seq: 3e9 }, 'seq is 3000000000'],
  ['a negative one', { ...operation, seq: -1 }, 'seq is -1'],
  ['a part of one', { ...operation, seq: 0.5 }, 'seq is 0.5'],
  ['a session beyond the records', { ...operation, session: 1001 }, 'session is 1001'],
  ['a connection that no scenario has', { ...operation, connection: 64 }, 'connection is 64'],
  ['a time after any run', { ...seen, t: 1e15 }, 't is 1000000000000000'],
  ['a time before any run', { ...seen, t: -1e15 }, 't is -1000000000000000'],
  ['a wall time that is no date', { ...seen, wall: 1e16 }, 'wall is 10000000000000000'],
  [
    'a plan of a billion connections',
    { type: 'workload', t: 1, clients: [{ client: 'in', connections: 1e9, rate: 1 }] },
    'clients is',
  ],
  [
    'a list of nothing',
    { type: 'segments', t: 1, segments: { rows: null }, files: {} },
    'segments is',
  ],
])('a number beyond its bound makes it none: %s', (_what, value, why) => {
  expect(() => recordOf(value)).toThrow(why);
});

test('the largest numbers that a run can have are in a record', () => {
  expect(recordOf(operation)).toBe(operation);
});

const decode = (line: string, first = 0): number =>
  decodeLines(Buffer.from(`${line}\n`), { client: 'in', first, skip: 0 }, ignoring).count;

test.each([
  '[0,"a",0,0,3000000000]',
  '[0,"a",0,3000000000,0]',
  '[0,"a",3000000000,0,0]',
  '[0,"a",64,0,0]',
  '[0,"a",0,0,-1]',
  '[0,"a",-1,0,0]',
  '[9000000000000000,"a",0,0,0]',
  '{"row":[0,"a","in",0,0,"7",1,1,0,1,1]}',
  '{"row":[0,"a","in",0,0,1e300,1,1,0,1,1]}',
])('so it does in a line of an operation or a row: %s', (line) => {
  expect(() => decode(line)).toThrow(/it is not/);
});

test('a number may be as high as the records that came before', () => {
  expect(() => decode('[0,"a",0,0,70]', 60)).toThrow('it is not an operation');
  expect(decode('[0,"a",0,0,70]', 70)).toBe(1);
});
