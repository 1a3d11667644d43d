import { expect, test } from 'vitest';
import { Chain, type LedgerEntry } from '../../history/workload.ts';
import { ledgerPad } from '../schema.ts';
import { RowVerifier } from './rows.ts';

const seed = 'verifier';
const id = { client: 'outside', connection: 3, session: 1 };

/** A row's packet as MySQL sends it, and something before it. */
function packetOf(rowId: number, entry: LedgerEntry, pad = ledgerPad): [Buffer, number] {
  const { client, connection, session, seq, kind, fromAccount, toAccount, amount } = entry;
  const about = [client, connection, session, seq, kind, fromAccount, toAccount, amount];
  const hashes = [entry.previousHash, entry.hash].map((hex) => Buffer.from(hex, 'hex'));
  const [previousHash = '', hash = ''] = hashes;
  const columns = [rowId, previousHash, ...about, hash, pad].map((value) =>
    typeof value === 'object' ? value : Buffer.from(String(value)),
  );
  const parts = columns.flatMap((column) => [Buffer.from([column.length]), column]);
  return [Buffer.concat([Buffer.from('before'), ...parts]), 'before'.length];
}

function entries(count: number): LedgerEntry[] {
  const chain = new Chain(seed, id);
  return Array.from({ length: count }, () => {
    const entry = chain.next();
    chain.acknowledge(entry);
    return entry;
  });
}

test('reads every field of a row, and finds the chain whole', () => {
  const verifier = new RowVerifier(seed);
  const rows = entries(9).map((entry, n) => verifier.toRow(...packetOf(n + 10, entry)));
  const [, second] = entries(2);
  if (second === undefined) throw new Error('no second entry');
  const { previousHash: _previous, hash: _hash, ...operation } = second;
  expect(rows[1]).toEqual({ id: 11, ...operation, hashFits: true, linkFits: true });
  expect(rows.every(({ hashFits, linkFits }) => hashFits && linkFits)).toBe(true);
});

test.each<[string, (entry: LedgerEntry) => [Buffer, number]]>([
  ['amount', (entry) => packetOf(1, { ...entry, amount: entry.amount + 1 })],
  ['account', (entry) => packetOf(1, { ...entry, toAccount: 9 })],
  ['seq', (entry) => packetOf(1, { ...entry, seq: 5 })],
  ['kind', (entry) => packetOf(1, { ...entry, kind: 'transfer' })],
  ['stored hash', (entry) => packetOf(1, { ...entry, hash: 'f'.repeat(64) })],
  ['pad', (entry) => packetOf(1, entry, 'Forcedetach-'.repeat(7))],
])('finds a changed %s', (_, packet) => {
  const [first] = entries(1);
  if (first === undefined) throw new Error('no entry');
  expect(new RowVerifier(seed).toRow(...packet(first)).hashFits).toBe(false);
});

test('finds a row that does not link to the one before it', () => {
  const verifier = new RowVerifier(seed);
  const found = entries(3)
    .toSpliced(1, 1)
    .map((entry) => verifier.toRow(...packetOf(1, entry)));
  expect(found[0]).toMatchObject({ linkFits: true });
  expect(found[1]).toMatchObject({ hashFits: true, linkFits: false });
});

test('keeps bytes that are no text, and refuses what is no row', () => {
  const [first] = entries(1);
  if (first === undefined) throw new Error('no entry');
  const odd = { ...first, client: 'out\u00ffside' };
  const [bytes, start] = packetOf(1, first);
  const damaged = Buffer.concat([bytes.subarray(0, start), Buffer.from([0xfb]), bytes]);
  expect(new RowVerifier(seed).toRow(...packetOf(1, odd)).hashFits).toBe(false);
  expect(() => new RowVerifier(seed).toRow(damaged, start)).toThrow('length byte 251');
});
