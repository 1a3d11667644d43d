import { expect, test } from 'vitest';
import { hasQuorum, routedPrimary, type GroupView, type Member } from './workload.ts';

const states = (text: string): Member[] =>
  text.split(' ').map((word) => {
    const [node = '', state = '', role = ''] = word.split(':');
    return { node, state: state as Member['state'], role: role as Member['role'] };
  });

const view = (node: string, members: string): GroupView => ({
  node,
  members: states(members),
  superReadOnly: false,
  offlineMode: false,
});

const whole = 'a:ONLINE:PRIMARY b:ONLINE:SECONDARY c:ONLINE:SECONDARY';
const alone = 'a:ONLINE:PRIMARY b:UNREACHABLE:SECONDARY c:UNREACHABLE:SECONDARY';
const suspecting = 'a:UNREACHABLE:PRIMARY b:ONLINE:SECONDARY c:ONLINE:SECONDARY';
const moved = 'b:ONLINE:PRIMARY c:ONLINE:SECONDARY';

test('a member in good order with most of its members has a quorum', () => {
  expect(hasQuorum(view('a', whole))).toBe(true);
  expect(hasQuorum(view('b', suspecting))).toBe(true);
  expect(hasQuorum(view('b', moved))).toBe(true);
  expect(hasQuorum(view('a', alone))).toBe(false);
  expect(hasQuorum(view('a', 'a:ERROR: b:ONLINE:PRIMARY c:ONLINE:SECONDARY'))).toBe(false);
  expect(hasQuorum(view('a', 'a:OFFLINE:'))).toBe(false);
  expect(hasQuorum(view('a', 'a:ONLINE:PRIMARY b:UNREACHABLE:SECONDARY'))).toBe(false);
});

test('a router goes to the primary, and not to one that only suspicion knows', () => {
  expect(routedPrimary([view('a', whole), view('b', whole)])).toBe('a');
  expect(routedPrimary([view('b', suspecting), view('c', suspecting)])).toBeUndefined();
  expect(routedPrimary([view('b', moved), view('c', moved)])).toBe('b');
  expect(routedPrimary([])).toBeUndefined();
});

test('one that was thawed and still takes itself for the primary is outvoted', () => {
  expect(routedPrimary([view('a', whole), view('b', moved), view('c', moved)])).toBe('b');
  expect(routedPrimary([view('a', alone), view('b', moved)])).toBe('b');
});
