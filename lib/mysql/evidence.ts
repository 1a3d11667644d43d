/** What an audit of MySQL reads beyond what every database's does, and what lines of its logs mean. The keys are those of records. */
import { z } from 'zod';
import { EvidenceError, type Immutable } from '../core/index.ts';
import { type ImageEvidence, commandSchema } from '../history/index.ts';
import type { ServerLog } from '../judge/index.ts';
import { loginDamage, logDamage, refusalDamage } from './exit-kinds.ts';

const tableCheck = z.object({
  table: z.string(),
  /** CHECK TABLE EXTENDED's messages, `OK` when clean; absent where it was not asked or died. */
  check: z.string().optional(),
  /** CHECKSUM TABLE after crash recovery and a second kill; `NULL` where the table is unreadable. */
  checksum: z.string().optional(),
  /** The server's warning beside `NULL`; absent where it gave none, and in older histories. */
  error: z.string().optional(),
  /** The same after a clean restart. */
  checksumAfterRestart: z.string().optional(),
});
export type TableCheck = Immutable<z.output<typeof tableCheck>>;

/** The server's binary log after crash recovery, beside what the server and its tables say. */
const binlogFound = z.object({
  files: z.array(z.string()),
  /** Bytes of its events that were read. */
  bytes: z.number(),
  transactions: z.number(),
  /** GTID sets as MySQL writes them: in its files; those that the server knows; those purged. */
  gtids: z.string(),
  executed: z.string(),
  purged: z.string(),
  duplicateGtids: z.number(),
  /** Ranges of its ledger rows' seqs (both ends inclusive) by session (`sessionKey`). */
  rows: z.record(z.string(), z.array(z.tuple([z.number(), z.number()]))),
  /** Sessions of which log and table have the same operations and not the same values. */
  differing: z.array(z.string()),
  /** Where a file is missing, cannot be read to its end, or has a transaction without an end. */
  damage: z.array(z.string()),
});
export type BinlogFound = Immutable<z.output<typeof binlogFound>>;

const mysqlEvidence = z.object({
  /** Absent where it was not read, in histories before version 3, and where the server keeps none. */
  binlog: binlogFound.optional(),
  tables: z.array(tableCheck),
  innochecksum: z.array(commandSchema),
});
export type MysqlEvidence = Immutable<z.output<typeof mysqlEvidence>>;

/** With its own keys; an audit that failed early lacks some. */
export type MysqlImage = ImageEvidence & Partial<MysqlEvidence>;

/** Each is read by several checks. */
const valid = new WeakSet<ImageEvidence>();

/** Throws EvidenceError `HISTORY_DAMAGED`. */
export function ownEvidence(evidence: ImageEvidence): Partial<MysqlEvidence> {
  if (valid.has(evidence)) return evidence as MysqlImage;
  const { error } = mysqlEvidence.partial().safeParse(evidence);
  if (error !== undefined) {
    const what = `an audit of MySQL is not valid: ${z.prettifyError(error)}`;
    throw new EvidenceError('HISTORY_DAMAGED', what);
  }
  valid.add(evidence);
  return evidence as MysqlImage;
}

export const mysqlLog: ServerLog = {
  kept: /\[(ERROR|Warning)\]|ready for connections|Shutdown complete|corrupt/i,
  signs: { error: '[ERROR]', ready: 'ready for connections', stopped: 'Shutdown complete' },
  ofStorage: /\[InnoDB\]|^InnoDB: |mysqld got signal/,
  damage: logDamage,
  // Of a data file whose first page is torn, before the copy from the doublewrite file is put there
  // (storage/innobase/fsp/fsp0file.cc, Datafile::validate_for_recovery).
  mended: /\[MY-012224\]/,
  refusals: refusalDamage,
  logins: loginDamage,
  modelled: {
    locked: '[MY-012574] [InnoDB] Unable to lock ./ibdata1 error: 11 (model)',
    recovered: '[MY-013577] [InnoDB] InnoDB initialization has ended. (model)',
  },
};
