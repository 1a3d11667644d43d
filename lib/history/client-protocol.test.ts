import { expect, test } from 'vitest';
import { ClientJournal } from './client-protocol.ts';
import type { OperationLine } from './line-decoder.ts';

const server = { node: 'a', podUid: 'uid', startedAtS: 1 };

/** One step of a script: what happens, by connection, session and seq. */
type Step = (journal: ClientJournal, atMs: number) => void;

const session =
  (number: number, isRefused = false): Step =>
  (journal, t) =>
    journal.session({
      ...{ type: 'session', t, client: 'inside', connection: 0, session: number },
      ...(isRefused ? { error: 'down' } : { server }),
    });
const operation =
  (what: OperationLine['what'], seq: number, sessionNumber = 0): Step =>
  (journal, t) =>
    journal.operation({
      ...{ atUs: t * 1000, what, connection: 0, session: sessionNumber, seq },
      error: undefined,
    });
const send = (seq: number, of = 0): Step => operation('append', seq, of);
const beat =
  (done: Readonly<Record<string, number>>, last?: true): Step =>
  (journal, t) =>
    journal.beat({
      ...{ type: 'client-beat', t, client: 'inside', doing: 'writing', done },
      ...(last === undefined ? {} : { last }),
    });

/** A millisecond from step to step. */
function oddities(...steps: readonly Step[]): string[] {
  const journal = new ClientJournal();
  steps.forEach((step, index) => step(journal, index));
  return journal.oddities();
}

const good: readonly Step[] = [
  ...[session(0), send(0), operation('ok', 0), send(1), operation('fail', 1)],
  ...[send(2), operation('info', 2), session(1, true), session(2), send(0, 2)],
  ...[operation('ok', 0, 2), beat({ session: 3, invoke: 4, outcome: 4 }, true)],
];

test('a journal as a client writes it has nothing odd', () => {
  expect(oddities(...good)).toEqual([]);
});

test.each(good.slice(0, -1).map((_, index) => index))('without record %i it is odd', (index) => {
  expect(oddities(...good.toSpliced(index, 1))).not.toEqual([]);
});

test.each(good.slice(0, -1).map((_, index) => index))('with record %i twice it is odd', (index) => {
  const step = good[index];
  expect(oddities(...good.toSpliced(index, 0, ...(step === undefined ? [] : [step])))).not.toEqual(
    [],
  );
});

test('an outcome that comes after the next operation is odd', () => {
  const late = [session(0), send(0), send(1), operation('ok', 0), operation('ok', 1)];
  expect(oddities(...late).join()).toContain('an outcome is missing');
});

test('nothing is sent on a session of which nobody knows what it would answer next', () => {
  const more = [session(0), send(0), operation('info', 0), send(1)];
  expect(oddities(...more).join()).toContain('no session was open');
});

test('time does not go back', () => {
  const journal = new ClientJournal();
  session(0)(journal, 5);
  send(0)(journal, 4);
  expect(journal.oddities()).toEqual(['time goes back: by 1 ms on connection 0']);
});

test('a beat counts, and nothing follows the last', () => {
  const counts = { session: 1, invoke: 1, outcome: 1 };
  const whole = [session(0), send(0), operation('ok', 0)];
  expect(oddities(...whole, beat({ ...counts, refused: 7 }))).toEqual([]);
  expect(oddities(...whole, beat({ ...counts, outcome: 3 }))).toEqual([
    'records of type outcome are not as many as were written: 1 of 3 by 0.0 s',
  ]);
  expect(oddities(...whole, beat(counts, true), session(1))).toContain(
    'a record follows the last beat: a session or an operation',
  );
});

test('the longest silence of a connection is between two of its records', () => {
  const journal = new ClientJournal();
  session(0)(journal, 10);
  send(0)(journal, 40);
  operation('ok', 0)(journal, 45);
  expect(journal.connections[0]).toMatchObject({
    ...{ firstUs: 10_000, lastUs: 45_000 },
    longest: { fromUs: 10_000, toUs: 40_000 },
  });
});
