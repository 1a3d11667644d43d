import { describe, expect, test } from 'vitest';
import { initialBalance } from '../../history/workload.ts';
import type { IndexCount, ServerStart } from '../../history/evidence.ts';
import { runChecks } from './index.ts';
import { findingsOf, healthy, judged, rows } from '../../../test/support/judged-images.ts';
import type { MysqlEvidence, MysqlImage, TableCheck } from '../../mysql/evidence.ts';

/** As a crash state of real MySQL 9.7.4 said it, which then put the doublewrite copy there. */
const tornFirstPage = '[ERROR] [MY-012224] [InnoDB] Checksum mismatch in datafile: ./mysql.ibd';

/** The first start, or the one of that purpose, was like that. */
const starts = ({ purpose = 'recovery', ...changed }: Partial<ServerStart>): ServerStart[] =>
  healthy.starts.map((start) => (start.purpose === purpose ? { ...start, ...changed } : start));

const withTable = (table: TableCheck): Pick<MysqlEvidence, 'tables'> => ({
  tables: [...healthy.tables, table],
});

/** As innochecksum answers of a file that ends within its first page. */
const unreadFile =
  'Error: Was not able to read the minimum page size of 1024 bytes.  Bytes read was 100';
const checksummed = (exitCode: number, output: string): Pick<MysqlEvidence, 'innochecksum'> => ({
  innochecksum: healthy.innochecksum.map((each, n) =>
    n === 0 ? { ...each, exitCode, output } : each,
  ),
});
const outOfStep = (changed: Partial<IndexCount>): Pick<MysqlImage, 'indexCounts'> => ({
  indexCounts: healthy.indexCounts.map((each, n) => (n === 0 ? { ...each, ...changed } : each)),
});
const fscked = { command: 'e2fsck', exitCode: 4, output: '', durationMs: 1 };
const missing = "Table 'forcedetach.t' doesn't exist";
/** xfs_repair 6.x on a volume that two nodes wrote. */
const freeBlock =
  'data fork in ino 3145858 claims free block 394840\nimap claims in-use inode 3145858 is free, would correct imap';
const badInode = 'Phase 3 - for each AG...\nbad CRC for inode 160';
const scanned =
  '[ERROR] [MY-012562] [InnoDB] We scanned the log up to 2. A checkpoint was at 1 and the maximum LSN on a database page was 0. It is possible that the database is now corrupt!';

describe('the checkers', () => {
  test('say nothing of a healthy database', () => {
    expect(judged({})).toEqual([]);
    expect(findingsOf({ evidence: healthy, rows }, { evidence: healthy, rows })).toEqual([]);
  });

  test.each<[string, Partial<MysqlImage>]>([
    ['BALANCE_WRONG', { balances: { ...healthy.balances, 1: 1 } }],
    ['INDEX_OUT_OF_STEP', outOfStep({ valuesAgree: false })],
    ['AUDIT_CONTRADICTS', outOfStep({ byIndex: 2 })],
    ['CHECK_TABLE_FAILED', withTable({ table: 't', check: 'error: Corrupt', checksum: '1' })],
    [
      'CHECKSUM_TABLE_FAILED',
      withTable({ table: 't', check: 'OK', checksum: 'NULL', error: missing }),
    ],
    [
      'CHECKSUM_CHANGED',
      withTable({ table: 't', check: 'OK', checksum: '1', checksumAfterRestart: '2' }),
    ],
    ['PAGE_CHECKSUM_BAD', checksummed(1, 'Fail: page 4 invalid')],
    ['FILE_UNREADABLE', checksummed(1, unreadFile)],
    ['FSCK_ERRORS', { fsck: fscked }],
    [
      'FSCK_ERRORS',
      { fsck: { command: 'xfs_repair -n -f copy', exitCode: 1, output: badInode, durationMs: 1 } },
    ],
    [
      'FSCK_ERRORS',
      { fsck: { command: 'xfs_repair -n -f copy', exitCode: 1, output: freeBlock, durationMs: 1 } },
    ],
    ['ERROR_LOG_DAMAGE', { starts: starts({ errorLines: [scanned] }) }],
    ['TORN_PAGE_MENDED', { starts: starts({ errorLines: [tornFirstPage] }) }],
    ['ERROR_LOG_DAMAGE', { starts: starts({ purpose: 'cold', errorLines: [tornFirstPage] }) }],
    ['ERROR_LOG_OTHER', { starts: starts({ errorLines: ['[ERROR] [MY-010000] [Server] odd'] }) }],
    ['SERVER_DIED', { starts: starts({ purpose: 'cold', died: 'SIGABRT' }) }],
    ['CHECK_TABLE_CRASHED', { starts: starts({ purpose: 'check', died: 'SIGABRT' }) }],
    ['AUDIT_MACHINE_TROUBLE', { starts: starts({ died: 'SIGKILL' }) }],
    ['SQL_REFUSED', { sqlFailures: [{ what: 'balances', error: 'ER_NO_SUCH_TABLE' }] }],
    ['AUDIT_INCOMPLETE', { failures: ['innochecksum: no such file'] }],
    ['FSCK_FAILED', { fsck: { ...fscked, exitCode: 8 } }],
  ])('say %s, and nothing else', (code, changed) => {
    expect(judged(changed)).toEqual([code]);
  });

  test('miss no table and no account that the image before has', () => {
    const codesOf = (before: Partial<MysqlImage>): string[] => {
      const images = [{ ...healthy, ...before }, healthy].map((evidence) => ({ evidence, rows }));
      return findingsOf(...images).map(({ code }) => code);
    };
    expect(codesOf(withTable({ table: 'mysql.user', check: 'OK' }))).toEqual(['AUDIT_INCOMPLETE']);
    const richer = { ...healthy.balances, 900: initialBalance };
    const indexCounts = healthy.indexCounts.map(({ table, byPrimary, ...each }) => {
      const count = byPrimary + (table === 'account' ? 1 : 0);
      return { ...each, table, byPrimary: count, byIndex: count };
    });
    expect(codesOf({ balances: richer, indexCounts })).toEqual(['BALANCE_WRONG']);
  });

  test('ask for no fsck of a shared directory', () => {
    const { fsck: _fsck, fsckReplay: _replay, ...unchecked } = healthy;
    expect(findingsOf({ evidence: { ...unchecked, isDirectory: true }, rows })).toEqual([]);
  });

  test.each<[string, Partial<MysqlImage>, readonly string[]]>([
    [
      'a database that cannot start',
      { starts: starts({ ready: false, died: 'SIGABRT', errorLines: [scanned] }) },
      ['LEDGER_UNREADABLE', 'SERVER_CANNOT_START', 'ERROR_LOG_DAMAGE'],
    ],
    [
      'an audit that failed',
      { starts: starts({ ready: false }), failures: ['recovery: hung'] },
      ['SERVER_HUNG', 'AUDIT_INCOMPLETE'],
    ],
    [
      'a disk that cannot be mounted',
      {
        ...{ mounted: false, mountError: 'mount: bad superblock on /dev/loop0', starts: [] },
        fsck: { ...fscked, exitCode: 8, output: 'Bad magic number in super-block' },
      },
      ['LEDGER_UNREADABLE', 'FSCK_ERRORS', 'FILE_SYSTEM_UNMOUNTABLE'],
    ],
    [
      'an empty data directory',
      { dataDirectoryEmpty: true, starts: [] },
      ['LEDGER_UNREADABLE', 'DATA_DIRECTORY_EMPTY'],
    ],
  ])('tell %s from what could not be read', (_, changed, codes) => {
    const none = { ledgerComplete: false, ledgerRows: 0, balances: {} };
    expect(judged({ ...none, ...changed }, [])).toEqual(codes);
  });

  test('see a disk formatted anew and a database initialised anew', () => {
    const anew = { ...healthy, filesystemUuid: 'file-system-2', serverUuid: 'server-2' };
    const codes = findingsOf({ evidence: healthy, rows }, { evidence: anew, rows }).map(
      ({ code }) => code,
    );
    expect(codes).toEqual(['REFORMATTED', 'REINITIALISED']);
  });

  test('never take a checker that throws for a pass', () => {
    const broken = {
      name: 'broken',
      check: (): never => {
        throw new Error('oops');
      },
    };
    const image = { image: 'first', evidence: healthy } as never;
    expect(runChecks([image], [broken])).toMatchObject([
      { code: 'CHECKER_FAILED', level: 'incomplete', evidence: ['Error: oops'] },
    ]);
  });
});
