/** A volume with a ledger of millions of rows, and the history of the clients who wrote it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createConnection, type Connection } from 'mysql2/promise';
import { historyDirectory } from '../../lib/history/recorder.ts';
import { Segment } from '../../lib/history/segment.ts';
import { Chain, initialBalance } from '../../lib/workload/ledger.ts';
import type { LedgerEntry } from '../../lib/workload/sql.ts';
import type { BareHost } from '../../test/cluster/bare-host.ts';
import type { BareServer } from '../../test/cluster/bare-server.ts';

export const seed = 'audit-bench';
const client = 'outside';
const sessions = 8;
const rowsPerChunk = 1_000;
/** Table, indexes and undo of one row; a blank volume and the redo log of the filling. */
const bytesPerRow = 700;
const blankBytes = 4 * 2 ** 30;
/** Only to fill it fast: what is measured is a server with MySQL's defaults. */
const fillingFlags = [
  ...['--local-infile=ON', '--skip-log-bin', '--innodb-doublewrite=OFF'],
  ...['--innodb-flush-log-at-trx-commit=0', '--innodb-redo-log-capacity=1G'],
  '--innodb-buffer-pool-size=2G',
];

export interface LedgerVolume extends AsyncDisposable {
  readonly server: BareServer;
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
  const server = await disk.startServer('--skip-log-bin');
  return {
    server,
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
  const connection = await createConnection({ socketPath: server.socketPath, user: 'root' });
  await load(connection, filling.chunks(rows));
  for (const [id, balance] of filling.balances) {
    await connection.query('UPDATE forcedetach.account SET balance = ? WHERE id = ?', [
      balance,
      id,
    ]);
  }
  // A stop would write them out too, but is cut short after 30 s.
  await connection.query('FLUSH TABLES forcedetach.ledger FOR EXPORT');
  await connection.query('UNLOCK TABLES');
  await connection.end();
  await server.stop();
}

async function load(connection: Connection, chunks: Generator<Buffer>): Promise<void> {
  await connection.query({
    sql:
      "LOAD DATA LOCAL INFILE 'rows' INTO TABLE forcedetach.ledger (client, connection, session," +
      ' seq, kind, from_account, to_account, amount, @previous, @hash)' +
      ' SET previous_hash = UNHEX(@previous), hash = UNHEX(@hash)',
    infileStreamFactory: () => Readable.from(chunks),
  });
}

class Filling {
  readonly balances = new Map<number, number>();
  readonly #journal: Segment;
  readonly #chains = Array.from(
    { length: sessions },
    (_, connection) => new Chain(seed, { client, connection, session: 0 }),
  );
  #written = 0;

  constructor(journal: Segment) {
    this.#journal = journal;
  }

  /** Rows as LOAD DATA takes them. */
  *chunks(rows: number): Generator<Buffer> {
    while (this.#written < rows) {
      let chunk = '';
      for (let n = 0; n < rowsPerChunk && this.#written < rows; n++) {
        const entry = this.#next();
        this.#move(entry);
        chunk += line(entry);
      }
      yield Buffer.from(chunk);
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

  #move({ fromAccount, toAccount, amount }: LedgerEntry): void {
    if (amount === 0) return;
    const { balances } = this;
    balances.set(fromAccount, (balances.get(fromAccount) ?? initialBalance) - amount);
    balances.set(toAccount, (balances.get(toAccount) ?? initialBalance) + amount);
  }
}

function line(entry: LedgerEntry): string {
  const { connection, session, seq, kind, fromAccount, toAccount, amount } = entry;
  const words = [client, connection, session, seq, kind, fromAccount, toAccount, amount];
  return `${words.join('\t')}\t${entry.previousHash}\t${entry.hash}\n`;
}
