/** Operations of a base to be harmed: chosen by what is there, the same ones each time. */
import type { JournaledOp } from '../../lib/judge/index.ts';
import type { SessionId, OpId } from '../../lib/history/index.ts';
import { expectedContent } from '../../test/support/expected-content.ts';
import type { Base } from './bases.ts';
import { seed } from './workshop.ts';

const keyOf = ({ client, connection, session }: SessionId): string =>
  `${client}/${connection}/${session}`;

/** Acknowledged operations of one session, in order; the longest session is number 0. */
export function sessionOf({ ops }: Base, number: number): JournaledOp[] {
  const sessions = Map.groupBy(
    ops.filter(({ outcome }) => outcome === 'ok'),
    keyOf,
  );
  const found = [...sessions.values()].toSorted((a, b) => b.length - a.length)[number];
  if (found === undefined || found.length < 4) throw new Error(`no session ${number} to harm`);
  return found.toSorted((a, b) => a.seq - b.seq);
}

export const isTransfer = (op: OpId): boolean => expectedContent(seed, op).kind === 'transfer';

/** An append in the middle of a session: none of the session's first and last two operations. */
export function middleAppend(base: Base, number: number): JournaledOp {
  const found = sessionOf(base, number)
    .slice(1, -1)
    .find((op) => !isTransfer(op));
  if (found === undefined) throw new Error(`session ${number} has no append in its middle`);
  return found;
}

export function lastOf(base: Base, number: number): JournaledOp {
  const last = sessionOf(base, number).at(-1);
  if (last === undefined) throw new Error(`session ${number} is empty`);
  return last;
}

/** The operation's row, as a condition in SQL. */
export const rowOf = ({ client, connection, session, seq }: OpId): string =>
  `client = '${client}' AND connection = ${connection} AND session = ${session} AND seq = ${seq}`;

/** Takes an operation back as if it had never been: its row, and what it moved. */
export function undoing(op: OpId): string[] {
  const { fromAccount, toAccount, amount } = expectedContent(seed, op);
  const move = (account: number, by: number): string =>
    `UPDATE forcedetach.account SET balance = balance + ${by} WHERE id = ${account}`;
  const gone = `DELETE FROM forcedetach.ledger WHERE ${rowOf(op)}`;
  return isTransfer(op) ? [gone, move(fromAccount, amount), move(toAccount, -amount)] : [gone];
}
