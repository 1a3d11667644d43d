/** What a line must be to count as a record; fields that are optional, too, are what they are said to be. */
import { expect, test } from 'vitest';
import { recordOf } from './lines.ts';

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
