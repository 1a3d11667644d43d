/** A ledger of a million rows in seconds: many rows an insert, and the journal as if each was sent. */
import { createConnection } from 'mysql2/promise';
import type { JournaledOp } from '../../lib/judge/checkers/journal.ts';
import { Chain, initialBalance } from '../../lib/history/workload.ts';
import type { BareServer } from './bare-server.ts';

const sessions = 8;
const rowsPerInsert = 1_000;
const columns =
  'client, connection, session, seq, kind, from_account, to_account, amount, previous_hash, hash';

export interface Filling {
  /** A multiple of 1000. */
  readonly rows: number;
  readonly seed: string;
}

/** Writes whole sessions, as the writer would have, and resolves to its journal. */
export async function fillLedger(
  server: BareServer,
  { rows, seed }: Filling,
): Promise<JournaledOp[]> {
  const connection = await createConnection({ socketPath: server.socketPath, user: 'root' });
  await connection.query('USE forcedetach');
  const chains = Array.from({ length: sessions }, (_, n) => ({
    id: { client: 'outside', connection: n, session: 0 },
    chain: new Chain(seed, { client: 'outside', connection: n, session: 0 }),
  }));
  const balances = new Map<number, number>();
  const move = (account: number, amount: number): void => {
    balances.set(account, (balances.get(account) ?? initialBalance) + amount);
  };
  const ops: JournaledOp[] = [];
  for (let written = 0; written < rows; written += rowsPerInsert) {
    const values: unknown[] = [];
    for (let n = 0; n < rowsPerInsert; n++) {
      const next = chains[n % sessions];
      if (next === undefined) continue;
      const entry = next.chain.next();
      next.chain.acknowledge(entry);
      const { client, connection, session, seq, kind, fromAccount, toAccount, amount } = entry;
      const hashes = [Buffer.from(entry.previousHash, 'hex'), Buffer.from(entry.hash, 'hex')];
      const id = [client, connection, session, seq];
      values.push([...id, kind, fromAccount, toAccount, amount, ...hashes]);
      ops.push({ ...next.id, seq, outcome: 'ok', endedAtMs: 0, server: { node: 'a' } });
      move(fromAccount, -amount);
      move(toAccount, amount);
    }
    await connection.query(`INSERT INTO ledger (${columns}) VALUES ?`, [values]);
  }
  for (const [id, balance] of balances) {
    await connection.query('UPDATE account SET balance = ? WHERE id = ?', [balance, id]);
  }
  await connection.end();
  return ops;
}
