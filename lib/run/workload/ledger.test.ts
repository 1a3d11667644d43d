import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  accountCount,
  accountsPerConnection,
  Chain,
  clientSides,
  entryHash,
  firstAccount,
  maxConnections,
  originHash,
  type LedgerEntry,
} from '../../history/workload.ts';
import { expectedContent } from '../../../test/support/expected-content.ts';

const session = fc.record({
  client: fc.constantFrom(...clientSides),
  connection: fc.nat(maxConnections - 1),
  session: fc.nat(1000),
});

test('an operation can be told from its ids alone, whatever became of those before it', () => {
  fc.assert(
    fc.property(
      fc.string(),
      session,
      fc.array(fc.boolean(), { maxLength: 40 }),
      (seed, id, oks) => {
        const chain = new Chain(seed, id);
        for (const ok of oks) {
          const entry = chain.next();
          expect(entry).toMatchObject(expectedContent(seed, entry));
          if (ok) chain.acknowledge(entry);
        }
      },
    ),
  );
});

test('each entry links to the last acknowledged one; the first to the origin', () => {
  fc.assert(
    fc.property(
      fc.string(),
      session,
      fc.array(fc.boolean(), { maxLength: 40 }),
      (seed, id, oks) => {
        const chain = new Chain(seed, id);
        let head = originHash(seed, id);
        for (const [seq, ok] of oks.entries()) {
          const entry = chain.next();
          expect(entry.seq).toBe(seq);
          expect(entry.previousHash).toBe(head);
          expect(entry.hash).toBe(entryHash(entry));
          if (!ok) continue;
          chain.acknowledge(entry);
          head = entry.hash;
        }
      },
    ),
  );
});

test('a change of any field changes the hash', () => {
  const entry = new Chain('seed', { client: 'inside', connection: 3, session: 1 }).next();
  const changes: Partial<LedgerEntry>[] = [
    { client: 'outside' },
    { connection: 4 },
    { session: 2 },
    { seq: 1 },
    { kind: 'transfer' },
    { fromAccount: entry.fromAccount + 1 },
    { toAccount: entry.toAccount + 1 },
    { amount: 1 },
    { previousHash: entry.hash },
  ];
  const hashes = changes.map((change) => entryHash({ ...entry, ...change }));
  expect(new Set([entry.hash, ...hashes]).size).toBe(changes.length + 1);
});

test('connections never touch the accounts of another', () => {
  fc.assert(
    fc.property(fc.string(), session, fc.nat(500), (seed, id, seq) => {
      const { kind, fromAccount, toAccount, amount } = expectedContent(seed, { ...id, seq });
      const first = firstAccount(id.client, id.connection);
      for (const account of [fromAccount, toAccount]) {
        expect(account).toBeGreaterThanOrEqual(first);
        expect(account).toBeLessThan(first + accountsPerConnection);
      }
      expect(fromAccount === toAccount).toBe(kind === 'append');
      expect(amount > 0).toBe(kind === 'transfer');
    }),
  );
  expect(firstAccount('inside', 0)).toBe(1);
  expect(firstAccount('outside', maxConnections - 1) + accountsPerConnection - 1).toBe(
    accountCount,
  );
});
