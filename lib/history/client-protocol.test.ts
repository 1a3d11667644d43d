import { expect, test } from 'vitest';
import { ClientJournal } from './client-protocol.ts';
import type { OperationLine } from './lines.ts';

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
