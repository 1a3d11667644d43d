/** How MySQL's tools and its server end, and what of it is damage. What is not here is no answer (lib/judge/checkers/exit-kinds.ts). */
import type { ExitKind } from '../judge/index.ts';

const is1 = (code: number): boolean => code === 1;

/** It ends with 1 of anything: only its words tell whether it looked (utilities/innochecksum.cc, main). */
export const innochecksumKinds: readonly ExitKind[] = [
  {
    tool: 'innochecksum',
    exit: (code) => code === 0,
    means: 'sound',
    source: 'innochecksum.cc: every page was read',
  },
  {
    tool: 'innochecksum',
    exit: is1,
    says: /^Fail: ?page|^Error: bytes read \(\d+\) doesn't match page size|^Page decompress failed|structure needs cleaning|bad message/im,
    means: 'damage',
    source:
      'innochecksum.cc: a bad page, the end of the file within a page, or perror() of the read',
  },
  {
    tool: 'innochecksum',
    exit: is1,
    says: /minimum page size of \d+ bytes\. +Bytes read was [1-9]/,
    means: 'damage',
    source: 'innochecksum.cc: the file ends within its first page; 0 bytes are a read error, too',
  },
  {
    tool: 'innochecksum',
    exit: (code) => code === 136,
    means: 'damage',
    source: '9.7.4 on random bytes: SIGFPE, of a page size that its first page gives as 0',
  },
];

interface Sign {
  readonly says: RegExp;
  readonly source: string;
}

/** Any of them, whatever its letters' case. */
const anyOf = (signs: readonly Sign[]): RegExp =>
  new RegExp(signs.map(({ says }) => says.source).join('|'), 'i');

/** Modules of storage/innobase that read what is on the disk; os, ut, mem, sync and srv ask the machine. */
const structures = 'btr|buf|data|dict|fil|fsp|fut|ibuf|lob|mtr|page|rec|rem|row|trx';

/** Lines of the error log (share/messages_to_error_log.txt) that InnoDB writes of what it found in its files. */
export const logDamage: RegExp = anyOf([
  {
    says: /\[(ERROR|FATAL)\].*\bcorrupt/,
    source: 'MY-011906, MY-011972, MY-012519, MY-012562, MY-013857 and others: it says so',
  },
  {
    says: /log sequence number \d+ is in the future|checksum mismatch/,
    source: 'MY-011971, MY-012224: a page is newer than the redo log, or not what was written',
  },
  {
    says: /stored in the page read in are|but in the page header it is|in the data dictionary but in file|Page index id \d+ !=/,
    source: 'MY-011904, MY-012239, MY-012095, MY-011866: a page or a file is not the one asked for',
  },
  {
    says: /Header page consists of zero bytes|is of a different size|in the doublewrite buffer/,
    source: 'MY-012224, MY-012263, MY-012237: the system tablespace',
  },
  {
    says: /Cannot find the dir slot|non-delete-marked record|In pages .* of index/,
    source: 'MY-012686, MY-012833, MY-013051: records within a page, pages within an index',
  },
  {
    says: /redo log files, but at least one is missing|has start_lsn \d+ but expected|redo log file .* has format/,
    source: 'MY-013893, MY-013881, MY-013895: files of the redo log',
  },
  {
    says: /Cannot open datafile for read-only|system cannot find the path|operating system error number 2 in|Cannot find undo tablespace|tablespace is missing/,
    source: 'MY-012216, MY-012593, MY-012592: a file is missing (ENOENT, OS_FILE_NOT_FOUND)',
  },
  {
    says: /structure needs cleaning|bad message|\berror number (74|117)\b|\berrno:? (74|117)\b|\bOS error:? (74|117|174|217)\b/,
    source:
      'MY-012592, MY-012596, MY-012646: EBADMSG, EUCLEAN; os0file.cc adds 100 to unknown ones',
  },
  {
    says: new RegExp(`Assertion failure: (${structures})\\w*\\.(cc|h|ic):\\d+(?!:ib::fatal)`),
    source: 'MY-013183: what must hold of a page does not; ib::fatal ends anything',
  },
  {
    says: /mysqld got signal (8|11)\b/,
    source: 'sql/signal_handler.cc: it crashed on what it read; 6 follows any fatal error',
  },
]);

/** A living server's errors that prove damage, by symbol, and by their English text where that alone was recorded. */
export const refusalDamage: RegExp = anyOf([
  {
    says: /ER_NO_SUCH_TABLE|ER_BAD_DB_ERROR|ER_BAD_FIELD_ERROR|ER_KEY_DOES_NOT_EXITS|Table '\S+' doesn't exist|Unknown database|Unknown column|Key '\S+' doesn't exist/,
    source: 'messages_to_clients.txt: a part of the schema is gone',
  },
  {
    says: /ER_CRASHED_ON|ER_INDEX_CORRUPT|ER_TABLE_CORRUPT|is marked as crashed|Index \S+ is corrupted|is missing, corrupt or|is probably corrupt/,
    source: 'sql/handler.cc, print_error: HA_ERR_CRASHED_ON_USAGE, HA_ERR_INDEX_CORRUPT and others',
  },
  {
    says: /Incorrect key file for table '(?!\S*(#sql|\/tmp\/))/,
    source: 'handler.cc: HA_ERR_CRASHED is ER_NOT_KEYFILE; of a temporary table it is a full disk',
  },
  {
    says: /ER_TABLESPACE_(MISSING|DISCARDED)|Tablespace is (missing|discarded)/,
    source: 'handler.cc: HA_ERR_TABLESPACE_MISSING, HA_ERR_NO_SUCH_TABLE of InnoDB',
  },
  {
    says: /errno:? (74|117)\b|structure needs cleaning|bad message/,
    source: 'ER_CANT_OPEN_FILE, ER_FILE_NOT_FOUND, ER_ERROR_ON_READ: the file system’s own words',
  },
]);

/** What a login with an application's account meets where its rows in the grant tables are gone or wrong. */
export const loginDamage: RegExp =
  /denied (for|to) user|ACCESS_DENIED|ER_ACCOUNT_HAS_BEEN_LOCKED|ER_HOST_NOT_PRIVILEGED|ER_MUST_CHANGE_PASSWORD/;

/** Messages of CHECK TABLE (ha_innodb.cc, check; sql_admin.cc). `Operation failed`, lock waits and interruptions are none. */
export const checkDamage: RegExp =
  /\bcorrupt|contains \d+ entries, should be|marked as crashed|Tablespace (is missing|has been discarded)|doesn't exist/i;
