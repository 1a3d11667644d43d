/**
 * The writer processes on a real MySQL through a real relay: what they journal as acknowledged is
 * in the ledger, whatever is done to them, to their connections or to the server.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import { startDatabase, type BenchDatabase } from '../../bench/support/database.ts';
import { openMysqlSession } from '../../lib/mysql/session.ts';
import { prepareSchema } from '../../lib/mysql/schema.ts';
import { databaseName } from '../../lib/mysql/tables.ts';
import { startWriterProcesses } from '../../lib/kind/clients/writers.ts';
import type { Writers, WriterSpec } from '../../lib/run/workload.ts';
import { openHistory, type Operation } from '../../lib/history/reader.ts';
import { ensureImages } from '../../lib/kind/images/ensure.ts';
import { initialBalance } from '../../lib/history/workload.ts';
import { expectedContent } from '../support/expected-content.ts';
import { kubernetesDefault } from '../../lib/core/kubernetes.ts';
import { mysql } from '../../lib/mysql/database.ts';

const seed = 'writer-test';
const shell = $({ quiet: true });
let database: BenchDatabase;
let folder: string;

beforeAll(async () => {
  const { tools } = await ensureImages({
    source: 'auto',
    kubernetes: kubernetesDefault,
    onProgress: (line) => process.stderr.write(`${line}\n`),
  });
  database = await startDatabase(tools);
});
afterAll(() => database[Symbol.asyncDispose]());

const routes = {
  way: () => ({ socketPath: database.socketPath }),
  get: () => database.socketPath,
  onChange: () => undefined,
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'forcedetach-writer-'));
  await database.execute(`DROP DATABASE IF EXISTS ${databaseName}`);
  await prepareSchema(routes);
});
afterEach(() => rm(folder, { recursive: true }));

function start(rate: WriterSpec['rate'] = 'max'): Promise<Writers> {
  const specs = (['inside', 'outside'] as const).map((client) => ({
    client,
    connections: 4,
    rate,
    seed,
  }));
  const originNs = process.hrtime.bigint();
  return startWriterProcesses({ real: mysql.real, specs, folder, originNs, seed, routes });
}

const ackedBy = (writers: Writers): number =>
  writers.acked().reduce((sum, { count }) => sum + count, 0);

async function untilAcked(writers: Writers, count: number): Promise<void> {
  while (ackedBy(writers) < count) await sleep(50);
}

type Query = (sql: string) => Promise<RowDataPacket[]>;

/** Queries that all see one moment: the server may still serve what a killed writer had sent. */
async function atOneMoment<T>(work: (query: Query) => Promise<T>): Promise<T> {
  const { socketPath } = database;
  const connection = await createConnection({ socketPath, user: 'root', database: databaseName });
  try {
    await connection.query('START TRANSACTION WITH CONSISTENT SNAPSHOT');
    return await work(async (sql) => (await connection.query<RowDataPacket[]>(sql))[0]);
  } finally {
    await connection.end();
  }
}

const idOf = (op: Record<string, unknown> | Operation): string =>
  ['client', 'connection', 'session', 'seq'].map((key) => op[key as keyof typeof op]).join('/');

/** Every acknowledged operation is there once, nothing unsent is, and the money adds up. */
const expectConsistent = (): Promise<Operation[]> => atOneMoment(expectConsistentBy);

async function expectConsistentBy(query: Query): Promise<Operation[]> {
  const operations = [...openHistory(folder).ops()];
  const rows = await query('SELECT * FROM ledger ORDER BY id');
  const present = new Set(rows.map(idOf));
  expect(present.size).toBe(rows.length);
  const acked = operations.filter(({ outcome }) => outcome === 'ok');
  expect(acked.filter((op) => !present.has(idOf(op)))).toEqual([]);
  const possible = new Set(operations.filter(({ outcome }) => outcome !== 'fail').map(idOf));
  expect(rows.filter((row) => !possible.has(idOf(row)))).toEqual([]);

  const balances = new Map<number, number>();
  for (const row of rows) {
    const { client, connection, session, seq } = row as unknown as Operation;
    const sent = expectedContent(seed, { client, connection, session, seq });
    expect([row['kind'], row['from_account'], row['to_account'], row['amount']]).toEqual([
      sent.kind,
      sent.fromAccount,
      sent.toAccount,
      sent.amount,
    ]);
    if (sent.kind === 'append') continue;
    balances.set(sent.fromAccount, (balances.get(sent.fromAccount) ?? 0) - sent.amount);
    balances.set(sent.toAccount, (balances.get(sent.toAccount) ?? 0) + sent.amount);
  }
  for (const { id, balance } of await query('SELECT id, balance FROM account')) {
    expect(balance).toBe(initialBalance + (balances.get(Number(id)) ?? 0));
  }
  const fields = 'client, connection, session, seq, kind, from_account, to_account, amount';
  const [hashes] = await query(
    `SELECT COUNT(*) AS fitting FROM ledger WHERE HEX(hash) =
       SHA2(CONCAT_WS('|', LOWER(HEX(previous_hash)), ${fields}), 256)`,
  );
  expect(hashes?.['fitting']).toBe(rows.length);
  return operations;
}

test('25 a second are never more, however late the machine is', async () => {
  const writers = await start(25);
  await untilAcked(writers, 2);
  await sleep(4000);
  await writers.stop();
  const sentAtMs = new Map<string, number[]>();
  for (const { client, connection, sentAtMs: atMs } of openHistory(folder).ops()) {
    const key = `${client}/${connection}`;
    sentAtMs.set(key, [...(sentAtMs.get(key) ?? []), atMs]);
  }
  expect(sentAtMs.size).toBe(8);
  for (const times of sentAtMs.values()) {
    for (const [n, atMs] of times.entries()) {
      // Four connections take turns; a late first one leaves the next up to a turn closer.
      expect(atMs - (times[0] ?? 0)).toBeGreaterThan((n - 1) * 160);
    }
  }
});

test('a writer killed with -9 leaves all that was acknowledged, and is not passed over', async () => {
  const writers = await start();
  await untilAcked(writers, 500);
  await shell`pkill -KILL -P ${process.pid} -f writer-process`;
  await expect(writers.stop()).rejects.toMatchObject({ code: 'WRITER_DIED' });
  const operations = await expectConsistent();
  const unknown = operations.filter(({ outcome }) => outcome === 'info');
  expect(unknown.length).toBeLessThanOrEqual(8);
  expect(operations.length - unknown.length).toBeGreaterThanOrEqual(500);
});

test('writers whose parent is killed end by themselves', async () => {
  const parent: ChildProcess = fork(new URL('writer-parent.ts', import.meta.url), {
    execArgv: [],
    env: { ...process.env, FOLDER: folder, SOCKET: database.socketPath, SEED: seed },
  });
  const [pids] = (await once(parent, 'message')) as [number[]];
  expect(pids.length).toBe(2);
  parent.kill('SIGKILL');
  const alive = (): number[] => pids.filter((pid) => isAlive(pid));
  for (let waitedMs = 0; alive().length > 0 && waitedMs < 6000; waitedMs += 100) await sleep(100);
  expect(alive()).toEqual([]);
  await expectConsistent();
});

test('lost connections end sessions with unknown outcomes, and new sessions go on', async () => {
  const writers = await start();
  await untilAcked(writers, 300);
  await shell`docker exec ${database.container} sh -c ${'pkill -KILL -P $(pgrep -o socat)'}`;
  await untilAcked(writers, ackedBy(writers) + 1000);
  await writers.stop();
  const operations = await expectConsistent();
  expect(new Set(operations.map(({ session }) => session))).toEqual(new Set([0, 1]));
  const unknown = operations.filter(({ outcome }) => outcome === 'info');
  expect(unknown.length).toBeGreaterThan(0);
  expect(unknown.length).toBeLessThanOrEqual(8);
});

test('a frozen server costs each connection one unknown outcome after 5 s', async () => {
  const writers = await start();
  await untilAcked(writers, 300);
  await shell`docker pause ${database.container}`;
  await sleep(6000);
  await shell`docker unpause ${database.container}`;
  await untilAcked(writers, ackedBy(writers) + 500);
  await writers.stop();
  const operations = await expectConsistent();
  const unknown = operations.filter(({ outcome }) => outcome === 'info');
  expect(unknown.length).toBe(8);
  for (const { error, sentAtMs, endedAtMs } of unknown) {
    expect(error).toMatch(/^ETIMEDOUT: no answer to the operation/);
    expect((endedAtMs ?? 0) - sentAtMs).toBeGreaterThan(4900);
  }
  const refused = [...openHistory(folder).smallRecords()].filter(
    (record) => record.type === 'session' && record.error !== undefined,
  );
  expect(refused.length).toBeLessThanOrEqual(16);
});

test('a socket that leads nowhere is refused at once, a silent one after 2 s', async () => {
  const refused = { outcome: 'fail', fatal: true };
  await expect(openMysqlSession({ socketPath: join(folder, 'none') })).rejects.toMatchObject({
    ...refused,
    code: 'ENOENT',
  });
  const silent = createServer(() => undefined).listen(join(folder, 'silent'));
  await once(silent, 'listening');
  const beginMs = Date.now();
  await expect(openMysqlSession({ socketPath: join(folder, 'silent') })).rejects.toMatchObject({
    ...refused,
    code: 'ETIMEDOUT',
  });
  expect(Date.now() - beginMs).toBeGreaterThan(1900);
  silent.close();
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
