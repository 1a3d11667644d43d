import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Chain, sessionKey, type LedgerEntry } from '../../../history/workload.ts';
import { ledgerPad } from '../../schema.ts';
import { foldHash, SessionMix, sessionRowsOf } from '../rows.ts';
import { eventTypes, readBinlog, type BinlogRead } from './read-binlog.ts';

const id = { client: 'inside', connection: 1, session: 3 };
const key = sessionKey(id);
const uuid = '0123456789abcdef0123456789abcdef';
const words = '01234567-89ab-cdef-0123-456789abcdef';

function entries(count: number): LedgerEntry[] {
  const chain = new Chain('s', id);
  return Array.from({ length: count }, () => {
    const entry = chain.next();
    chain.acknowledge(entry);
    return entry;
  });
}

type Event = readonly [type: number, body: Buffer];

/** A file as the server writes it, its checksums any bytes. */
function fileOf(events: readonly Event[]): Buffer {
  const parts: Buffer[] = [Buffer.from([0xfe, 0x62, 0x69, 0x6e])];
  let end = 4;
  const description: Event = [eventTypes.formatDescription, Buffer.from([0, 0, 1])];
  for (const [type, body] of [description, ...events]) {
    const header = Buffer.alloc(19);
    end += 19 + body.length + 4;
    header.writeUInt8(type, 4);
    header.writeUInt32LE(19 + body.length + 4, 9);
    header.writeUInt32LE(end, 13);
    parts.push(header, body, Buffer.alloc(4, 0xee));
  }
  return Buffer.concat(parts);
}

const named = (text: string): Buffer => Buffer.from(`${String.fromCharCode(text.length)}${text}`);
const numbers = (...values: readonly (readonly [value: number, bytes: number])[]): Buffer =>
  Buffer.concat(
    values.map(([value, bytes]) => {
      const buffer = Buffer.alloc(bytes);
      buffer.writeUIntLE(value, 0, Math.min(bytes, 6));
      return buffer;
    }),
  );

const gtid = (number: number): Event => [
  eventTypes.gtid,
  Buffer.concat([Buffer.from([1]), Buffer.from(uuid, 'hex'), numbers([number, 8])]),
];
/** Thread, duration, length of the schema's name, error, length of what else (here: three bytes). */
const statement = (text: string): Event => [
  eventTypes.query,
  Buffer.concat([
    numbers([7, 4], [0, 4], ['forcedetach'.length, 1], [0, 2], [3, 2]),
    Buffer.from(`\x01\x02\x03forcedetach\0${text}`),
  ]),
];
const table = (name: string): Event => [
  eventTypes.tableMap,
  Buffer.concat([
    numbers([77, 6], [0, 2]),
    named('forcedetach'),
    Buffer.from([0]),
    named(name),
    Buffer.from([0]),
  ]),
];
const xid: Event = [eventTypes.xid, Buffer.alloc(8)];

function row(entry: LedgerEntry, rowId: number): Event {
  const stripped = (hex: string): Buffer => Buffer.from(hex.replace(/(00)+$/, ''), 'hex');
  const [previous, hash] = [stripped(entry.previousHash), stripped(entry.hash)];
  const { connection, session, seq, kind, fromAccount, toAccount, amount } = entry;
  const body = Buffer.concat([
    numbers([77, 6], [0, 2], [2, 2]),
    Buffer.from([12, 0xff, 0x0f, 0, 0]),
    numbers([rowId, 8]),
    named(entry.client),
    numbers([connection, 2], [session, 4], [seq, 4], [kind === 'append' ? 1 : 2, 1]),
    numbers([fromAccount, 4], [toAccount, 4], [amount, 4]),
    Buffer.from([previous.length]),
    previous,
    Buffer.from([hash.length]),
    hash,
    named(ledgerPad),
  ]);
  return [eventTypes.writeRows, body];
}

const commit = (entry: LedgerEntry, n: number): Event[] => [
  gtid(n),
  statement('BEGIN'),
  table('ledger'),
  row(entry, n),
  xid,
];

function read(files: Readonly<Record<string, Buffer>>, index = Object.keys(files)): BinlogRead {
  const folder = mkdtempSync(join(tmpdir(), 'forcedetach-binlog-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes);
  writeFileSync(join(folder, 'binlog.index'), index.map((name) => `./${name}\n`).join(''));
  return readBinlog(folder);
}

const three = entries(3).flatMap((entry, n) => commit(entry, n + 1));

/** As the pass over the table makes it. */
function mixOf(all: readonly LedgerEntry[], firstId = 1): string | undefined {
  const mix = new SessionMix(id);
  const folded = (hex: string): number => foldHash(Buffer.from(hex, 'hex'), 0, 32);
  for (const [n, entry] of all.entries()) {
    const kind = entry.kind === 'append' ? 1 : 2;
    const hashes = [folded(entry.previousHash), folded(entry.hash)] as const;
    mix.add({ ...entry, id: firstId + n }, kind, ...hashes);
  }
  return sessionRowsOf([mix])[key]?.mix;
}

test('rows of committed transactions, over files, with the mix that the table gives', () => {
  const [a, b] = [fileOf(three.slice(0, 5)), fileOf(three.slice(5))];
  const found = read({ 'binlog.000001': a, 'binlog.000002': b });
  expect(found).toMatchObject({
    damage: [],
    gtids: `${words}:1-3`,
    duplicateGtids: 0,
    transactions: 3,
  });
  expect(found.sessions).toEqual({ [key]: { rows: [[0, 2]], mix: mixOf(entries(3)) } });
});

test('a transaction that is prepared has one number, and so has one with savepoints', () => {
  const [first] = entries(1);
  if (first === undefined) throw new Error('there is one');
  const prepared = [
    gtid(1),
    statement("XA START X'6c656674',X'',1"),
    table('account'),
    [30, Buffer.alloc(40)] as const,
    statement("XA END X'6c656674',X'',1"),
    [eventTypes.xaPrepare, numbers([0, 1], [1, 4], [4, 4], [0, 4])] as const,
  ];
  const [begin, ...others] = commit(first, 2).slice(1);
  const saved = [gtid(2), begin, statement('SAVEPOINT `here`'), ...others] as Event[];
  const found = read({ 'binlog.000001': fileOf([...prepared, ...saved]) });
  const numbered = { transactions: 2, gtids: `${words}:1-2`, duplicateGtids: 0, damage: [] };
  expect(found).toMatchObject(numbered);
  expect(found.sessions).toEqual({ [key]: { rows: [[0, 0]], mix: mixOf([first], 2) } });
});

test.each<[string, Event]>([
  ['prepares', [38, numbers([0, 1], [1, 4], [4, 4], [0, 4])]],
  ['rolls back', statement('ROLLBACK')],
])(
  'a transaction with rows of the ledger that %s is not read as if it were committed',
  (_, last) => {
    const [first] = entries(1);
    const events = commit(first as LedgerEntry, 1).slice(0, -1);
    const { damage, sessions } = read({ 'binlog.000001': fileOf([...events, last]) });
    expect(damage.join()).toMatch(/nobody here makes/);
    expect(sessions).toEqual({});
  },
);

test('a gap, and a number that was given twice', () => {
  const all = entries(3);
  const of = (n: number, number: number): Event[] => commit(all[n] as LedgerEntry, number);
  const found = read({ 'binlog.000001': fileOf([...of(0, 1), ...of(1, 3), ...of(2, 3)]) });
  expect(found).toMatchObject({ gtids: `${words}:1:3`, duplicateGtids: 1 });
});

test.each<[string, Buffer, RegExp]>([
  ['cut within an event', fileOf(three).subarray(0, -10), /ends within an event/],
  ['cut within a transaction', fileOf(three.slice(0, -1)), /last transaction has no end/],
  ['not begun as one', Buffer.alloc(100), /does not begin/],
  [
    'a transaction that another one cuts short',
    fileOf([...three.slice(0, 4), ...three.slice(5)]),
    /has no end/,
  ],
  [
    'garbage in the middle',
    Buffer.concat([fileOf(three).subarray(0, 200), Buffer.alloc(400, 7)]),
    /no event at/,
  ],
])('%s is damage', (_, bytes, why) => {
  const { damage, sessions } = read({ 'binlog.000001': bytes });
  expect(damage.join()).toMatch(why);
  expect(sessions[key]?.rows ?? []).not.toEqual([[0, 2]]);
});

test('a file that is gone is damage', () => {
  const { damage } = read({ 'binlog.000002': fileOf(three) }, ['binlog.000001', 'binlog.000002']);
  expect(damage).toEqual(['binlog.000001: it is in the index and not there']);
});
