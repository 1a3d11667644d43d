/** The binary log's reading as a task beside the audit, and what becomes of it there. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { BinlogFound } from '../../evidence.ts';
import { EvidenceError } from '../../../core/index.ts';
import type { SqlClient } from '../sql-client.ts';
import type { SessionRows } from '../rows.ts';
import { indexFile, type BinlogRead } from './read-binlog.ts';

export interface BinlogTask extends AsyncDisposable {
  /** Rejects where the log could not be read. */
  readonly read: Promise<BinlogRead>;
}

export const keepsBinlog = (dataDirectory: string): boolean =>
  existsSync(join(dataDirectory, indexFile));

/** Begins to read. What servers write to it meanwhile is not looked for. */
export function beginBinlog(dataDirectory: string): BinlogTask {
  const worker = new Worker(new URL('binlog-worker.ts', import.meta.url), {
    workerData: dataDirectory,
    // It keeps next to nothing of what it reads.
    resourceLimits: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 64 },
  });
  const { promise: read, resolve, reject } = Promise.withResolvers<BinlogRead>();
  worker.once('message', resolve);
  worker.once('error', reject);
  worker.once('exit', () => reject(new EvidenceError('BINLOG_UNREAD', 'its reader was ended')));
  // Whoever awaits it hears of that.
  read.catch(() => undefined);
  return {
    read,
    async [Symbol.asyncDispose]() {
      await worker.terminate();
    },
  };
}

export async function foundInBinlog(
  client: SqlClient,
  { sessions, ...read }: BinlogRead,
  table: Readonly<Record<string, SessionRows>>,
): Promise<BinlogFound> {
  const [row] = await client.query(
    'SELECT @@GLOBAL.gtid_executed AS executed, @@GLOBAL.gtid_purged AS purged',
  );
  const setOf = (name: string): string => {
    const set = row?.[name];
    return typeof set === 'string' ? set.replaceAll('\n', '') : '';
  };
  return {
    ...read,
    executed: setOf('executed'),
    purged: setOf('purged'),
    rows: Object.fromEntries(Object.entries(sessions).map(([key, { rows }]) => [key, rows])),
    // Where the two hold other operations, their numbers say nothing.
    differing: Object.entries(sessions)
      .filter(([key, { rows, mix }]) => {
        const inTable = table[key];
        return inTable !== undefined && sameRows(inTable.rows, rows) && inTable.mix !== mix;
      })
      .map(([key]) => key),
  };
}

const sameRows = (a: SessionRows['rows'], b: SessionRows['rows']): boolean =>
  JSON.stringify(a) === JSON.stringify(b);
