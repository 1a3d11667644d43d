import { expect, test } from 'vitest';
import type { LedgerRow } from '../../history/evidence.ts';
import { IndexMix, type Index } from './read-tables.ts';

const row = (id: number, fromAccount: number): LedgerRow => ({
  ...{ id, client: 'inside', connection: 0, session: 0, seq: id, kind: 'append' },
  ...{ fromAccount, toAccount: fromAccount, amount: 0, hashFits: true, linkFits: true },
});
const index: Index = { name: 'from_account', columns: ['from_account'] };
const operation: Index = { name: 'o', columns: ['client', 'connection', 'session', 'seq'] };

function mixOf(rows: readonly LedgerRow[], of = index): string {
  const mix = new IndexMix(of);
  for (const each of rows) mix.add(each);
  return mix.result().mix;
}

test('gives the number of 64 bits that MySQL gives', () => {
  // SELECT (4294967297123 & 4294967295) * ((4000000001 * 0x1b873593) & 4294967295)
  const number = (4000000001n * 0x1b873593n) & 0xffffffffn;
  expect(mixOf([row(4294967297123, 4000000001)])).toBe(String(1123n * number));
  const top = (4294967295n * 0x1b873593n) & 0xffffffffn;
  const both = (1123n * number) ^ (4294967295n * top);
  expect(mixOf([row(4294967297123, 4000000001), row(4294967295, 4294967295)])).toBe(String(both));
});

test('takes in each column, also a text', () => {
  const rows = [{ client: 'outside' }, { connection: 1 }, { session: 1 }, { seq: 7 }];
  const mixes = [{}, ...rows].map((change) => mixOf([{ ...row(1, 1), ...change }], operation));
  expect(new Set(mixes).size).toBe(5);
});
