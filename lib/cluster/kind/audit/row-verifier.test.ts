import { expect, test } from 'vitest';
import { Chain } from '../../../workload/ledger.ts';
import type { LedgerEntry } from '../../../workload/sql.ts';
import { RowVerifier } from './row-verifier.ts';

const seed = 'verifier';
const id = { client: 'outside', connection: 3, session: 1 };

/** As MySQL answers `ledgerText`. */
function textOf(rowId: number, entry: LedgerEntry, padFits = 1): string {
  const { previousHash, hash, client, connection, session, seq } = entry;
  const { kind, fromAccount, toAccount, amount } = entry;
  const about = [client, connection, session, seq, kind, fromAccount, toAccount, amount];
  return [rowId, padFits, hash, previousHash, ...about].join('|');
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
  const rows = entries(9).map((entry, n) => verifier.toRow(textOf(n + 10, entry)));
  const [, second] = entries(2);
  if (second === undefined) throw new Error('no second entry');
  const { previousHash: _previous, hash: _hash, ...operation } = second;
  expect(rows[1]).toEqual({ id: 11, ...operation, hashFits: true, linkFits: true });
  expect(rows.every(({ hashFits, linkFits }) => hashFits && linkFits)).toBe(true);
});

test.each<[string, (entry: LedgerEntry) => string]>([
  ['amount', (entry) => textOf(1, { ...entry, amount: entry.amount + 1 })],
  ['account', (entry) => textOf(1, { ...entry, toAccount: 9 })],
  ['seq', (entry) => textOf(1, { ...entry, seq: 5 })],
  ['kind', (entry) => textOf(1, { ...entry, kind: 'transfer' })],
  ['stored hash', (entry) => textOf(1, { ...entry, hash: 'f'.repeat(64) })],
  ['pad', (entry) => textOf(1, entry, 0)],
])('finds a changed %s', (_, text) => {
  const [first] = entries(1);
  if (first === undefined) throw new Error('no entry');
  expect(new RowVerifier(seed).toRow(text(first)).hashFits).toBe(false);
});

test('finds a row that does not link to the one before it', () => {
  const verifier = new RowVerifier(seed);
  const [first, , third] = entries(3).map((entry, n) => textOf(n + 1, entry));
  expect(verifier.toRow(first ?? '')).toMatchObject({ linkFits: true });
  expect(verifier.toRow(third ?? '')).toMatchObject({ hashFits: true, linkFits: false });
});
