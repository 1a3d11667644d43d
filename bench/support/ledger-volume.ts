/** A volume with a ledger of millions of rows, and the history of the clients who wrote it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { format } from 'mysql2';
import { createConnection } from 'mysql2/promise';
import {
  insertStatement,
  parameters,
  putStatement,
  removeStatement,
  transferStatement,
  type Statement,
} from '../../lib/mysql/schema.ts';
import { historyDirectory } from '../../lib/history/recorder.ts';
import { Segment } from '../../lib/history/segment.ts';
import {
  documentAction,
  documentBody,
  Chain,
  type LedgerEntry,
} from '../../lib/history/workload.ts';
import type { BareHost } from '../../test/cluster/bare-host.ts';
import type { BareServer } from '../../test/cluster/bare-server.ts';

export const seed = 'audit-bench';
const client = 'outside';
const sessions = 8;
const transactionsPerChunk = 200;
/** Table, indexes, undo and binary log of one row; a blank volume and the redo log of the filling. */
const bytesPerRow = 1700;
const blankBytes = 4 * 2 ** 30;
/** Only to fill it fast: what is measured is a server with MySQL's defaults. */
const fillingFlags = [
  ...['--sync-binlog=0', '--innodb-doublewrite=OFF'],
  ...['--innodb-flush-log-at-trx-commit=0', '--innodb-redo-log-capacity=1G'],
  '--innodb-buffer-pool-size=2G',
];

export interface LedgerVolume extends AsyncDisposable {
  readonly server: BareServer;
  /** As the lab has it. */
  readonly dataDirectory: string;
  /** Of a run: its history has the operations. */
  readonly folder: string;
}

/**
 * Writes whole sessions, as the writer would have. The history has one acknowledged commit more
 * than the ledger: an audit that does not find it is blind.
 */
export async function ledgerVolume(host: BareHost, rows: number): Promise<LedgerVolume> {
  const name = `ledger-${rows}`;
  const volume = await host.newVolume(name);
  const bytes = blankBytes + rows * bytesPerRow;
  await host.sh('truncate -s "$2" "$1"; e2fsck -fy "$1"; resize2fs "$1"', volume.path, bytes);
  const disk = await volume.attach('a');
  const folder = await mkdtemp(join(tmpdir(), 'forcedetach-bench-'));
  const journal = new Segment({ directory: historyDirectory(folder), name: 'outside', client });
  const filling = new Filling(journal);
  await fill(await disk.startServer(...fillingFlags), filling, rows);
  filling.acknowledgeUnwritten();
  journal.close();
  const server = await disk.startServer();
  return {
    server,
    dataDirectory: `${disk.mountPoint}/data`,
    folder,
    async [Symbol.asyncDispose]() {
      await server.stop();
      await disk.detach();
      await host.removeVolume(name);
      await rm(folder, { recursive: true });
    },
  };
}

/** Ends the server too, with all pages on disk. */
async function fill(server: BareServer, filling: Filling, rows: number): Promise<void> {
  const { socketPath } = server;
  const connection = await createConnection({ socketPath, user: 'root', multipleStatements: true });
  await connection.query('USE forcedetach');
  for (const transactions of filling.chunks(rows)) await connection.query(transactions);
  // A stop would write them out too, but is cut short after 30 s.
  await connection.query('FLUSH TABLES forcedetach.ledger FOR EXPORT');
  await connection.query('UNLOCK TABLES');
  await connection.end();
  await server.stop();
}

class Filling {
  readonly #journal: Segment;
  readonly #chains = Array.from(
    { length: sessions },
    (_, connection) => new Chain(seed, { client, connection, session: 0 }),
  );
  #written = 0;

  constructor(journal: Segment) {
    this.#journal = journal;
  }

  /** Transactions as the writer sends them, many in one message. */
  *chunks(rows: number): Generator<string> {
    while (this.#written < rows) {
      const chunk: string[] = [];
      while (chunk.length < transactionsPerChunk && this.#written < rows) {
        chunk.push(transaction(this.#next()));
      }
      yield chunk.join(';');
    }
  }

  acknowledgeUnwritten(): void {
    this.#next();
  }

  #next(): LedgerEntry {
    const chain = this.#chains[this.#written % sessions];
    if (chain === undefined) throw new Error('there is a chain for each session');
    const entry = chain.next();
    chain.acknowledge(entry);
    const { connection, session, seq, kind } = entry;
    const id = { client, connection, session, seq };
    const t = this.#written++ / 1000;
    this.#journal.append({ ...id, type: 'invoke', t, kind });
    this.#journal.append({ ...id, type: 'outcome', t: t + 0.0005, outcome: 'ok' });
    return entry;
  }
}

function transaction(entry: LedgerEntry): string {
  const { sql, values } = statementOf(entry);
  return format(sql, [...values]);
}

function statementOf(entry: LedgerEntry): Statement {
  if (entry.kind === 'transfer') return transferStatement(entry);
  const action = documentAction(entry);
  if (action === undefined) return { sql: insertStatement, values: parameters(entry) };
  if (action.verb === 'put') return putStatement(entry, documentBody(seed, entry));
  return removeStatement(entry, { ...entry, seq: action.seq });
}
