/** MySQL as a database under test: its words, its pod, its log, and what the model finds on a sound volume. */
import { hash } from 'node:crypto';
import {
  type ImageEvidence,
  sessionKey,
  type LedgerEntry,
  workloadTables,
} from '../history/index.ts';
import { type ModelledVolume, type OwnPart, stockDatabaseName } from '../judge/index.ts';
import {
  ownChecks,
  binlogHas,
  ownContradictions,
  ownGaps,
  ownUnanswered,
  tablespacesOf,
} from './checks.ts';
import { type BinlogFound, type MysqlEvidence, mysqlLog } from './evidence.ts';
import { indexesMade } from './tables.ts';
import type { Database, RealDatabase } from '../run/index.ts';

export const modelled: OwnPart['modelled'] = ({
  rows,
  balances,
  notModelled,
  ...about
}): MysqlEvidence & Pick<ImageEvidence, 'indexCounts'> => ({
  ...(about.settings.binlog === 'off' ? {} : { binlog: binlogOf(rows, about) }),
  tables: [
    { table: 'ledger', check: 'OK', checksum: checksum(rows.map((entry) => entry.hash)) },
    { table: 'account', check: 'OK', checksum: checksum(Object.values(balances)) },
    { table: 'document', check: 'OK', checksum: checksum([rows.length]) },
  ],
  innochecksum: tablespacesOf(workloadTables).map((file) => notModelled(`innochecksum ${file}`)),
  indexCounts: indexesMade(about.isSchemaChanged).map(({ table, index }) => {
    const count = table === 'ledger' ? rows.length : Object.keys(balances).length;
    return { table, index, byPrimary: count, byIndex: count, valuesAgree: true };
  }),
});

const checksum = (values: readonly (string | number)[]): string =>
  hash('sha256', values.join()).slice(0, 8);

/** A log as it must be: every row is in it once. */
function binlogOf(
  rows: readonly LedgerEntry[],
  { serverUuid, isSchemaChanged }: Pick<ModelledVolume, 'serverUuid' | 'isSchemaChanged'>,
): BinlogFound {
  const ranges: Record<string, [number, number][]> = {};
  for (const entry of rows) {
    const ofSession = (ranges[sessionKey(entry)] ??= []);
    const last = ofSession.at(-1);
    if (last !== undefined && entry.seq === last[1] + 1) last[1] = entry.seq;
    else ofSession.push([entry.seq, entry.seq]);
  }
  const transactions = rows.length + (isSchemaChanged ? 1 : 0);
  const gtids = transactions === 0 ? '' : `${serverUuid}:1-${transactions}`;
  const sets = { gtids, executed: gtids, purged: '', duplicateGtids: 0 };
  const read = { files: ['binlog (model)'], bytes: 0, transactions };
  return { ...read, ...sets, rows: ranges, differing: [], damage: [] };
}

/** With trx_commit 0 or 2 the log is synced once a second only (innodb_flush_log_at_timeout). */
const flushPeriodMs = 2000;

export const mysql: Database & { readonly real: Required<RealDatabase> } = {
  name: stockDatabaseName,
  title: 'MySQL',
  server: 'mysqld',
  pod: {
    dataFolder: '/var/lib/mysql',
    port: 3306,
    values: (image, { trxCommit, binlog }) => ({
      MYSQL_IMAGE: image,
      TRX_COMMIT: trxCommit,
      // Without a binary log each commit would write one more row, of its GTID.
      GTID_MODE: binlog === 'on' ? 'ON' : 'OFF',
      // `binlog` is the server's own default name.
      BINLOG: binlog === 'on' ? '--log-bin=binlog' : '--disable-log-bin',
    }),
  },
  log: mysqlLog,
  durability: {
    keepsAll: ({ trxCommit }) => trxCommit === 1,
    heldBackMs: ({ trxCommit }) => (trxCommit === 1 ? 0 : flushPeriodMs),
    unusual: ({ trxCommit }) =>
      trxCommit === 1
        ? []
        : [`MySQL runs with innodb_flush_log_at_trx_commit=${trxCommit}; stock is 1`],
    advice: 'Set innodb_flush_log_at_trx_commit=1: MySQL then acknowledges only what is on disk.',
  },
  leastAsked: { trxCommit: 1, binlog: 'off' },
  tools: {
    checkTable: 'CHECK TABLE',
    offline: 'innochecksum',
    secondWitnesses: [
      'BINLOG_ROW_MISSING',
      'BINLOG_TRANSACTION_MISSING',
      'BINLOG_DIFFERS',
      'GTID_GAP',
    ],
    // An operator's, the plainest word first; nobody runs the last one unasked.
    byFinding: {
      SERVER_CANNOT_START: 'mysqld',
      SERVER_DIED: 'mysqld',
      ERROR_LOG_DAMAGE: 'mysqld',
      SQL_REFUSED: 'mysqld',
      LEDGER_UNREADABLE: 'SELECT',
      CHECKSUM_TABLE_FAILED: 'CHECKSUM TABLE',
      CHECK_TABLE_FAILED: 'CHECK TABLE',
      CHECK_TABLE_CRASHED: 'CHECK TABLE',
      PAGE_CHECKSUM_BAD: 'innochecksum',
      FILE_UNREADABLE: 'innochecksum',
    },
  },
  own: {
    checks: ownChecks,
    gaps: ownGaps,
    unanswered: ownUnanswered,
    contradictions: ownContradictions,
    logHas: binlogHas,
    modelled,
  },
  real: {
    definedIn: { module: 'lib/mysql/database.ts', name: 'mysql' },
    auditTool: 'lib/mysql/audit/audit-tool.ts',
    server: async () => (await import('./session.ts')).mysqlServer,
    recovery: async () => (await import('./audit/collect.ts')).recoverImage,
    group: async () => (await import('./group.ts')).mysqlGroup,
    bare: async () => (await import('./bare.ts')).mysqlBare,
  },
};
