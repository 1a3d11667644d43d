/** MySQL as a database under test: its words, its pod and its log. */
import type { Database, RealDatabase } from '../run/index.ts';
import { stockDatabaseName } from '../judge/index.ts';
import { ownAnswers, ownChecks, ownGaps } from './checks/index.ts';
import { mysqlLog } from './log.ts';
import { modelled } from './modelled.ts';

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
  own: { checks: ownChecks, gaps: ownGaps, answers: ownAnswers, modelled },
  real: {
    definedIn: { module: 'lib/mysql/database.ts', name: 'mysql' },
    auditTool: 'lib/mysql/audit/audit-tool.ts',
    server: async () => (await import('./server.ts')).mysqlServer,
    recovery: async () => (await import('./audit/recover-image.ts')).recoverImage,
    group: async () => (await import('./group/group.ts')).mysqlGroup,
    bare: async () => (await import('./bare/server.ts')).mysqlBare,
  },
};
