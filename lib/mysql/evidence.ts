/** What an audit of MySQL reads beyond what every database's does, and what lines of its logs mean. The keys are those of records. */
import type { CommandEvidence } from '../core/index.ts';
import type { ImageEvidence } from '../history/index.ts';
import type { ServerLog } from '../judge/index.ts';
import { loginDamage, logDamage, refusalDamage } from './exit-kinds.ts';

export interface MysqlEvidence {
  /** Absent where it was not read, in histories before version 3, and where the server keeps none. */
  readonly binlog?: BinlogFound;
  readonly tables: readonly TableCheck[];
  readonly innochecksum: readonly CommandEvidence[];
}

/** With its own keys; an audit that failed early lacks some. */
export type MysqlImage = ImageEvidence & Partial<MysqlEvidence>;

export const ownEvidence = (evidence: ImageEvidence): Partial<MysqlEvidence> =>
  evidence as MysqlImage;

export interface TableCheck {
  readonly table: string;
  /** CHECK TABLE EXTENDED's messages, `OK` when clean; absent where it was not asked or died. */
  readonly check?: string;
  /** CHECKSUM TABLE after crash recovery and a second kill; `NULL` where the table is unreadable. */
  readonly checksum?: string;
  /** The server's warning beside `NULL`; absent where it gave none, and in older histories. */
  readonly error?: string;
  /** The same after a clean restart. */
  readonly checksumAfterRestart?: string;
}

/** The server's binary log after crash recovery, beside what the server and its tables say. */
export interface BinlogFound {
  readonly files: readonly string[];
  /** Bytes of its events that were read. */
  readonly bytes: number;
  readonly transactions: number;
  /** GTID sets as MySQL writes them: in its files; those that the server knows; those purged. */
  readonly gtids: string;
  readonly executed: string;
  readonly purged: string;
  readonly duplicateGtids: number;
  /** Ranges of its ledger rows' seqs (both ends inclusive) by session (`sessionKey`). */
  readonly rows: Readonly<Record<string, readonly (readonly [from: number, to: number])[]>>;
  /** Sessions of which log and table have the same operations and not the same values. */
  readonly differing: readonly string[];
  /** Where a file is missing, cannot be read to its end, or has a transaction without an end. */
  readonly damage: readonly string[];
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
