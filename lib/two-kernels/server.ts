/**
 * mysqld on a node, with the flags of the database's pod (manifests/mysql): binary log on and
 * synced, 128 MiB buffer pool.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import type { Node } from './host.ts';

export interface ServerOptions {
  /** On the node. */
  readonly dataDirectory: string;
  /** innodb_flush_log_at_trx_commit */
  readonly trxCommit: 0 | 1 | 2;
  readonly signal: AbortSignal;
}

export interface ServerStarted {
  /** It answered a query from outside the node. */
  readonly ready: boolean;
  /** Until it did, or until it was given up. */
  readonly startMs: number;
  /** It ended by itself before it answered. */
  readonly died: boolean;
}

const startTimeoutMs = 120_000;
const pollMs = 200;

/** Says what became of the start; a server that dies is no error here. */
export async function startServer(node: Node, options: ServerOptions): Promise<ServerStarted> {
  const { dataDirectory, trxCommit, signal } = options;
  const argv = [
    ...['mysqld', '--no-defaults', '--user=root', `--datadir=${dataDirectory}`],
    ...['--socket=/tmp/mysqld.sock', '--pid-file=/tmp/mysqld.pid', '--log-error=/tmp/mysqld.err'],
    ...['--tmpdir=/tmp', '--secure-file-priv=NULL', '--skip-name-resolve', '--sync-binlog=1'],
    ...['--gtid-mode=ON', '--enforce-gtid-consistency=ON'],
    ...[`--innodb-flush-log-at-trx-commit=${trxCommit}`, '--innodb-buffer-pool-size=128M'],
    ...['--performance-schema=OFF', '--mysqlx=OFF'],
    ...[`--report-host=${node.name}`, `--report-user=${node.name}`],
  ];
  const startedMs = performance.now();
  const tookMs = (): number => Math.round(performance.now() - startedMs);
  await node.sh('"$@" </dev/null >/dev/null 2>&1 & echo $! >/tmp/mysqld.main', ...argv);
  for (let poll = 1; tookMs() < startTimeoutMs; poll += 1) {
    signal.throwIfAborted();
    if (await answers(node.mysqlPort)) return { ready: true, startMs: tookMs(), died: false };
    if (poll % 10 === 0 && !(await runs(node)))
      return { ready: false, startMs: tookMs(), died: true };
    await sleep(pollMs);
  }
  return { ready: false, startMs: tookMs(), died: false };
}

/** True while mysqld's process is there. */
export async function runs(node: Node): Promise<boolean> {
  const said = await node.sh(
    'kill -0 "$(cat /tmp/mysqld.main)" 2>/dev/null && echo yes || echo no',
  );
  return said === 'yes';
}

/** Clean shutdown; killed after 60 s. */
export async function stopServer(node: Node): Promise<void> {
  await node.sh(`pid=$(cat /tmp/mysqld.main); kill -TERM $pid 2>/dev/null || exit 0; tries=0
    while kill -0 $pid 2>/dev/null && [ $tries -lt 600 ]; do sleep 0.1; tries=$((tries + 1)); done
    kill -KILL $pid 2>/dev/null || true`);
}

/** SIGKILL, and waits until it is gone. */
export async function killServer(node: Node): Promise<void> {
  await node.sh(`pid=$(cat /tmp/mysqld.main); kill -KILL $pid 2>/dev/null || exit 0
    while kill -0 $pid 2>/dev/null; do sleep 0.05; done`);
}

/** Pages of its pool that are not on the disk as they are in memory; undefined without an answer. */
export async function dirtyPages(port: number): Promise<number | undefined> {
  const rows = await ask(port, "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_dirty'");
  const value = rows?.[0]?.['Value'];
  return value === undefined ? undefined : Number(value);
}

const answers = async (port: number): Promise<boolean> =>
  (await ask(port, 'SELECT 1')) !== undefined;

async function ask(port: number, sql: string): Promise<RowDataPacket[] | undefined> {
  try {
    const connection = await createConnection({
      ...{ host: '127.0.0.1', port, user: 'root', connectTimeout: 2_000 },
    });
    connection.on('error', () => undefined);
    const [rows] = await connection.query<RowDataPacket[]>({ sql, timeout: 10_000 });
    connection.destroy();
    return rows;
  } catch {
    return undefined;
  }
}
