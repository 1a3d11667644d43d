/** What a line must be to count as a record; fields that are optional, too, are what they are said to be. */
import { expect, test } from 'vitest';
import { isRecord } from './lines.ts';

const seen = { type: 'observation', t: 1, source: 'api', name: 'node-ready', data: {} };

test('a record with all that readers rely on is one, with and without what is optional', () => {
  expect(isRecord(seen)).toBe(true);
  expect(isRecord({ ...seen, node: 'a', wall: 5 })).toBe(true);
  expect(isRecord({ type: 'outcome', t: 1, client: 'in', connection: 0, session: 1 })).toBe(false);
});

test.each<[string, object]>([
  ['a node that no text can be made of', { ...seen, node: { toString: null } }],
  ['a node that is null', { ...seen, node: null }],
  ['a list of them', { ...seen, node: ['a'] }],
  ['a wall time in words', { ...seen, wall: 'noon' }],
  ['a detail', { type: 'action', t: 1, actor: 'fault', name: 'x', step: 'begin', detail: {} }],
  ['a pressure', { type: 'machine', t: 1, timerLagMs: 0, cpuPressure: '9' }],
])('an optional field of another kind makes it none: %s', (_what, value) => {
  expect(isRecord(value)).toBe(false);
});
