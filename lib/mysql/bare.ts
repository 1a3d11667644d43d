/** mysqld on a machine without a cluster, with the flags of the database's pod (manifests/mysql): binary log on and synced, 128 MiB buffer pool. */
import { setTimeout as sleep } from 'node:timers/promises';
import { alarmingLines } from './audit/mysqld.ts';
import { asRoot, schemaStatements } from './schema.ts';
import type { BareMachine, BareOptions, BareServer, BareStarted } from '../run/index.ts';
import type { RowDataPacket } from 'mysql2/promise';

const startTimeoutMs = 120_000;
const pollMs = 200;

async function start(node: BareMachine, options: BareOptions): Promise<BareStarted> {
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
    if (await answers(node.databasePort)) return { ready: true, startMs: tookMs(), died: false };
    if (poll % 10 === 0 && !(await runs(node)))
      return { ready: false, startMs: tookMs(), died: true };
    await sleep(pollMs);
  }
  return { ready: false, startMs: tookMs(), died: false };
}

async function runs(node: BareMachine): Promise<boolean> {
  const said = await node.sh(
    'kill -0 "$(cat /tmp/mysqld.main)" 2>/dev/null && echo yes || echo no',
  );
  return said === 'yes';
}

async function stop(node: BareMachine): Promise<void> {
  await node.sh(`pid=$(cat /tmp/mysqld.main); kill -TERM $pid 2>/dev/null || exit 0; tries=0
    while kill -0 $pid 2>/dev/null && [ $tries -lt 600 ]; do sleep 0.1; tries=$((tries + 1)); done
    kill -KILL $pid 2>/dev/null || true`);
}

async function dirtyPages({ databasePort: port }: BareMachine): Promise<number | undefined> {
  const rows = await ask(port, "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_dirty'");
  const value = rows?.[0]?.['Value'];
  return value === undefined ? undefined : Number(value);
}

const answers = async (port: number): Promise<boolean> =>
  (await ask(port, 'SELECT 1')) !== undefined;

const ask = (port: number, sql: string): Promise<RowDataPacket[] | undefined> =>
  asRoot({ host: '127.0.0.1', port }, (query) => query(sql), {
    connectTimeout: 2_000,
    timeout: 10_000,
  }).catch(() => undefined);

async function errorLines(node: BareMachine): Promise<string[]> {
  const log = await node.sh('tail -c 200000 /tmp/mysqld.err || true');
  return alarmingLines(log.split('\n'));
}

/** Clients come from outside the machine, so root may log in from anywhere. */
const makeBlank = `
  mysqld --no-defaults --initialize-insecure --user=root --datadir="$mount/data" --log-error=/tmp/blank.err
  mysqld --no-defaults --user=root --datadir="$mount/data" --socket=/tmp/blank.sock --skip-networking \\
    --mysqlx=OFF --log-error=/tmp/blank.err >/dev/null 2>&1 &
  until mysqladmin --socket=/tmp/blank.sock --user=root ping >/dev/null 2>&1; do sleep 0.2; done
  mysql --socket=/tmp/blank.sock --user=root <<'SQL'
${schemaStatements.join(';\n')};
CREATE USER root@'%'; GRANT ALL ON *.* TO root@'%' WITH GRANT OPTION
SQL
  mysqladmin --socket=/tmp/blank.sock --user=root shutdown
  wait`;

export const mysqlBare: BareServer = {
  start,
  runs,
  stop,
  dirtyPages,
  errorLines,
  makeBlank,
};
