import { expect, test } from 'vitest';
import type { OutcomeRecord, ReadRecord, SessionRecord } from '../history/client-records.ts';
import type { ServerIdentity } from '../workload/sql.ts';
import { ReaderSightMeter } from './seen-by-readers.ts';

const server: ServerIdentity = { node: 'a', podUid: 'uid', startedAtS: 100 };
const id = { client: 'inside', connection: 0, session: 0 };

const session = (by = server): SessionRecord => ({ type: 'session', t: 0, ...id, server: by });
const ack = (t: number, seq: number): OutcomeRecord => ({
  ...{ type: 'outcome', t, ...id, seq, outcome: 'ok' },
});
/** `seq` of the newest row that was read; none for an empty ledger. */
const read = (sentAtMs: number, seq: number | undefined, by = server): ReadRecord => ({
  ...{ type: 'read', t: sentAtMs + 1, client: 'outside', server: by, sentAtMs },
  ...(seq === undefined ? {} : { head: { ...id, seq } }),
});

function blind(...answers: readonly (SessionRecord | OutcomeRecord | ReadRecord)[]): string[] {
  const meter = new ReaderSightMeter(new Map([['inside', { breakMs: 10, blindMs: 100 }]]));
  for (const answer of answers) meter.see(answer);
  return meter
    .result()
    .map(({ what, client, count, atMs }) => `${client} ${what} ${count} ${atMs}`);
}

test('a read shows what was acknowledged before it was sent', () => {
  expect(blind(session(), ack(1, 0), ack(2, 1), read(3, 1))).toEqual([]);
  expect(blind(session(), ack(1, 0), ack(2, 1), read(3, 0), read(5, 0))).toEqual([
    'outside older-row 2 4',
  ]);
  expect(blind(session(), ack(1, 0), read(3, undefined))).toEqual(['outside no-row 1 4']);
});

test('what is acknowledged while it is under way needs not be in it', () => {
  expect(blind(session(), ack(1, 0), ack(3.5, 1), read(3, 0))).toEqual([]);
  expect(blind(session(), ack(3.5, 0), read(3, undefined))).toEqual([]);
});

test('another server, and the same one started anew, owe nothing', () => {
  for (const other of [
    { ...server, podUid: 'other' },
    { ...server, startedAtS: 110 },
  ]) {
    expect(blind(session(), ack(1, 1), read(3, undefined, other), read(5, 0, other))).toEqual([]);
  }
});

const own = (sentAtMs: number): ReadRecord => ({
  ...read(sentAtMs, 0),
  client: 'inside',
  head: {
    ...id,
    connection: 1,
    seq: 0,
  },
});

test('a client that is served reads something', () => {
  const acks = Array.from({ length: 30 }, (_, seq) => ack(seq * 5, seq));
  expect(blind(session(), ...acks)).toEqual(['inside no-answer 1 0']);
  expect(blind(session(), ...acks.slice(0, 15), own(75), ...acks.slice(16))).toEqual([]);
});

test('and one that was not served all the time needs not', () => {
  const acks = Array.from({ length: 30 }, (_, seq) => ack(seq * 11, seq));
  expect(blind(session(), ...acks)).toEqual([]);
});
