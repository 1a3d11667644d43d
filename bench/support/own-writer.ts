/** Our writer's inserts, journal and all: the processes that a run starts, on a new ledger. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { prepareSchema } from '../../lib/mysql/schema.ts';
import { databaseName } from '../../lib/mysql/tables.ts';
import { startWriterProcesses, type ClientSockets } from '../../lib/kind/clients/writers.ts';
import { EvidenceError } from '../../lib/core/errors.ts';
import { openHistory } from '../../lib/history/reader.ts';
import type { BenchDatabase } from './database.ts';
import type { Load } from './sysbench.ts';
import { mysql } from '../../lib/mysql/database.ts';

const seed = 'bench';
/** Node compiles the writer's code while it runs; a C client comes compiled. */
const warmupSeconds = 2;
/** All connections are open well within this after the first answer. */
const spareSeconds = 0.5;

/** Acknowledged and journaled inserts per second, counted in the journal itself. */
export async function writerInserts(
  database: BenchDatabase,
  { connections, seconds }: Load,
): Promise<number> {
  const routes: Pick<ClientSockets, 'get' | 'way' | 'onChange'> = {
    get: () => database.socketPath,
    way: () => ({ socketPath: database.socketPath }),
    onChange: () => undefined,
  };
  await database.execute(`DROP DATABASE IF EXISTS ${databaseName}`);
  await prepareSchema(routes);
  const folder = await mkdtemp(join(tmpdir(), 'forcedetach-bench-'));
  try {
    const writers = await startWriterProcesses({
      real: mysql.real,
      specs: [{ client: 'outside', connections, rate: 'max', seed }],
      folder,
      originNs: process.hrtime.bigint(),
      seed,
      routes,
      transferEvery: 0,
    });
    while (writers.acked().length === 0) await sleep(50);
    await sleep((warmupSeconds + seconds + spareSeconds) * 1000);
    await writers.stop();
    return countWindow(folder, connections, seconds);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Acknowledgements per second in the window after every connection's first and the warm-up. */
function countWindow(folder: string, connections: number, seconds: number): number {
  const firstMs = new Map<number, number>();
  const ackedAtMs: number[] = [];
  for (const { outcome, connection, endedAtMs } of openHistory(folder).ops()) {
    if (outcome !== 'ok' || endedAtMs === undefined) continue;
    if (!firstMs.has(connection)) firstMs.set(connection, endedAtMs);
    ackedAtMs.push(endedAtMs);
  }
  if (firstMs.size < connections) {
    throw new EvidenceError(
      'BENCH_IDLE',
      `only ${firstMs.size} of ${connections} connections wrote`,
    );
  }
  const beginMs = Math.max(...firstMs.values()) + warmupSeconds * 1000;
  const endMs = beginMs + seconds * 1000;
  return ackedAtMs.filter((t) => t > beginMs && t <= endMs).length / seconds;
}
