/** What could not look is told apart from what found damage, by the ends and the words of real tools. */
import { describe, expect, test } from 'vitest';
import type { Finding } from '../verdict/verdict.ts';
import { findingsOf, healthy, rows } from '../../../test/support/judged-images.ts';
import type { ServerStart } from '../../history/evidence.ts';
import { answerOf, answerOfMount, answerOfStart, type Answer } from './exit-kinds.ts';
import { innochecksumKinds } from '../../mysql/exit-kinds.ts';
import { mysql } from '../../mysql/database.ts';
import type { MysqlImage } from '../../mysql/evidence.ts';

const badMagic = 'e2fsck: Bad magic number in super-block while trying to open z.img';
const noSpace = 'mount: /m: cannot mount; probably corrupted filesystem on /dev/loop0.';

test.each<[string, number, string, Answer]>([
  ['e2fsck -fn copy', 0, '', 'sound'],
  ['e2fsck -y -E journal_only copy', 1, 'recovering journal', 'sound'],
  ['e2fsck -p copy', 1, 'Free blocks count wrong. FIXED. FILE SYSTEM WAS MODIFIED', 'sound'],
  ['e2fsck -p copy', 3, 'REBOOT LINUX', 'sound'],
  ['e2fsck -p copy', 5, 'FILE SYSTEM WAS MODIFIED. WARNING: still has errors', 'damage'],
  ['e2fsck -fn copy', 4, 'Pass 1', 'damage'],
  ['/sbin/e2fsck -fn copy', 12, 'short read', 'damage'],
  ['e2fsck -fn copy', 8, badMagic, 'damage'],
  ['e2fsck -fn copy', 8, 'e2fsck: No such file or directory while trying to open copy', 'none'],
  ['e2fsck -fn copy', 36, 'e2fsck canceled.', 'none'],
  ['e2fsck -fn copy', 134, 'ended by SIGABRT', 'none'],
  ['e2fsck -fn copy', 143, 'Terminated', 'none'],
  ['xfs_repair -n -f copy', 0, '', 'sound'],
  ['xfs_repair -n -f copy', 1, 'Phase 3\nbad CRC for inode 160', 'damage'],
  ['xfs_repair -n -f copy', 1, 'Sorry, could not find valid secondary superblock', 'damage'],
  ['xfs_repair -n -f copy', 1, 'xfs_repair: cannot open copy: No such file', 'none'],
  ['xfs_repair -n -f copy', 1, 'superblock read failed\nfatal error -- Input/output error', 'none'],
  ['mount -t ext4 /dev/loop0 /m', 0, '', 'sound'],
  ['mount -t ext4 /dev/loop0 /m', 32, noSpace, 'damage'],
  ['mount -t ext4 /dev/loop0 /m', 32, 'mount: Structure needs cleaning.', 'damage'],
  ['mount -t ext4 /dev/loop0 /m', 32, 'mount: wrong fs type, bad option, bad superblock', 'none'],
  ['mount -o loop copy /m', 32, 'mount: /m: failed to setup loop device for copy.', 'none'],
  ['mount -t ext4 /dev/loop0 /m', 2, 'mount: Structure needs cleaning.', 'none'],
  ['innochecksum a.ibd', 0, '', 'sound'],
  ['innochecksum a.ibd', 1, 'Fail: page 14 invalid\nExceeded the maximum allowed', 'damage'],
  [
    'innochecksum a.ibd',
    1,
    'Error: Was not able to read the minimum page size of 1024 bytes.  Bytes read was 100',
    'damage',
  ],
  [
    'innochecksum a.ibd',
    1,
    'Error: Was not able to read the minimum page size of 1024 bytes.  Bytes read was 0',
    'none',
  ],
  ['innochecksum a.ibd', 1, 'Error: a.ibd cannot be found', 'none'],
  ['innochecksum a.ibd', 1, 'Error: Unable to lock file:: a.ibd', 'none'],
  ['innochecksum a.ibd', 1, "innochecksum: [ERROR] unknown option '--x'.", 'none'],
  ['innochecksum a.ibd', 136, 'ended by SIGFPE', 'damage'],
  ['innochecksum a.ibd', 137, 'Killed', 'none'],
  ['innochecksum a.ibd', 143, '', 'none'],
  ['other a.ibd', 0, '', 'none'],
])('%s ends with %i, %s: %s', (command, exitCode, output, answer) => {
  expect(answerOf({ command, exitCode, output }, innochecksumKinds)).toBe(answer);
});

const failed = (died: string, ...errorLines: string[]): ServerStart => ({
  ...{ purpose: 'recovery', ready: false, durationMs: 900, died, errorLines },
});
const fsck = (exitCode: number): Pick<MysqlImage, 'fsck'> => ({
  fsck: { command: 'e2fsck -fn copy', exitCode, output: '', durationMs: 1 },
});
const afterwords = [
  '[ERROR] [MY-012930] [InnoDB] Plugin initialization aborted with error Generic error.',
  '[ERROR] [MY-013183] [InnoDB] Assertion failure: ut0ut.cc:512:ib::fatal triggered thread 1',
  'InnoDB: corruption in the InnoDB tablespace. Please refer to',
  '2026-11-24T08:29:42Z UTC - mysqld got signal 6 ;',
  '[ERROR] [MY-010334] [Server] Failed to initialize DD Storage Engine',
  '[ERROR] [MY-010119] [Server] Aborting',
];

describe('a start of the server', () => {
  test.each([
    '[ERROR] [MY-012592] [InnoDB] Operating system error number 117 in a file operation.',
    "[ERROR] [MY-012596] [InnoDB] Error number 74 means 'Bad message'",
    "[ERROR] [MY-012646] [InnoDB] File ./binlog.000002: 'file_status_posix_stat' returned OS error 217.",
    "[ERROR] [MY-011971] [InnoDB] Tablespace 'mysql' Page [page number=12] log sequence number 12 is in the future!",
    '[ERROR] [MY-013183] [InnoDB] Assertion failure: fut0lst.ic:82:addr.page == FIL_NULL thread 12',
    '[ERROR] [MY-012519] [InnoDB] ############### CORRUPT LOG RECORD FOUND ###############',
    '[ERROR] [MY-013893] [InnoDB] Found existing redo log files, but at least one is missing.',
    '[ERROR] [MY-013881] [InnoDB] The redo log file ./x has start_lsn 19656704 but expected 36030464',
    '[ERROR] [MY-012224] [InnoDB] Header page consists of zero bytes in datafile: ./ibdata1',
    '[ERROR] [MY-012239] [InnoDB] Space ID in fsp header is 3475445793, but in the page header it is 1109987774.',
    '[ERROR] [MY-012216] [InnoDB] Cannot open datafile for read-only: ./x.ibd OS error: 71',
  ])('that failed with %s found damage', (line) => {
    const start = failed('exit code 2', line, ...afterwords);
    expect(answerOfStart(start, {}, mysql.log)).toBe('damage');
  });

  test.each([
    '[ERROR] [MY-012681] [InnoDB] mmap(137363456 bytes) failed; errno 12',
    '[ERROR] [MY-012574] [InnoDB] Unable to lock ./ibdata1 error: 11',
    '[ERROR] [MY-010268] [Server] Another process with pid 7 is using unix socket file.',
    '[ERROR] [MY-012592] [InnoDB] Operating system error number 28 in a file operation.',
    '[ERROR] [MY-012592] [InnoDB] Operating system error number 5 in a file operation.',
    '[ERROR] [MY-012872] [InnoDB] [FATAL] Semaphore wait has lasted > 600 seconds.',
    '[ERROR] [MY-000067] [Server] unknown variable innodb-x=1.',
    '[ERROR] [MY-099999] [InnoDB] Words that nobody has seen yet',
  ])('that failed with %s could not look', (line) => {
    const start = failed('exit code 1', line, ...afterwords);
    expect(answerOfStart(start, fsck(0), mysql.log)).toBe('none');
  });

  test('that crashed by itself found damage; one that was ended did not', () => {
    for (const died of ['SIGSEGV', 'SIGABRT', 'SIGFPE']) {
      expect(answerOfStart(failed(died), {}, mysql.log)).toBe('damage');
    }
    for (const died of ['SIGKILL', 'SIGTERM', 'SIGBUS', 'exit code 137', 'spawn ENOENT']) {
      expect(answerOfStart(failed(died), fsck(4), mysql.log)).toBe('none');
    }
  });

  test('need not name what fsck finds', () => {
    const start = failed('exit code 1', '[ERROR] [MY-010119] [Server] Aborting');
    expect(answerOfStart(start, fsck(4), mysql.log)).toBe('damage');
    expect(answerOfStart(start, fsck(0), mysql.log)).toBe('none');
  });

  test('that serves is sound, whatever it warned of', () => {
    const { died: _died, ...start } = failed('', ...afterwords);
    expect(answerOfStart({ ...start, ready: true }, {}, mysql.log)).toBe('sound');
  });
});

test('nor need mount', () => {
  const refused = { ...healthy, mounted: false, mountError: 'mount: bad superblock on /dev/loop0' };
  expect(answerOfMount({ ...refused, ...fsck(4) })).toBe('damage');
  expect(answerOfMount({ ...refused, ...fsck(0) })).toBe('none');
  expect(answerOfMount(healthy)).toBe('sound');
});

const unread = { ledgerComplete: false, ledgerRows: 0, balances: {}, tables: [] };

const judged = (changed: Partial<MysqlImage>): readonly Finding[] =>
  findingsOf({
    evidence: { ...healthy, ...changed },
    rows: changed.ledgerComplete === false ? [] : rows,
  });

const noPool = failed(
  'exit code 1',
  '[ERROR] [MY-012956] [InnoDB] Cannot allocate memory',
  ...afterwords,
);
const lockWait = 'ER_LOCK_WAIT_TIMEOUT: Lock wait timeout exceeded; try restarting transaction';

test.each<[string, Partial<MysqlImage>]>([
  ['mount', { ...unread, mounted: false, mountError: 'mount: no loop device', starts: [] }],
  ['server', { ...unread, starts: [noPool] }],
  ['statement', { ...unread, sqlFailures: [{ what: 'ledger', error: 'Too many connections' }] }],
  ['login', { login: { refused: lockWait } }],
  [
    'innochecksum',
    { innochecksum: [{ command: 'innochecksum a', exitCode: 143, output: '', durationMs: 1 }] },
  ],
  [
    'CHECK TABLE',
    { tables: healthy.tables.map((each) => ({ ...each, check: `error: ${lockWait}` })) },
  ],
  ['CHECKSUM TABLE', { tables: healthy.tables.map((each) => ({ ...each, checksum: 'NULL' })) }],
])('a %s that could not look makes a run incomplete, and is no damage', (_, changed) => {
  const found = judged(changed);
  expect(found.map(({ code }) => code)).toContain('AUDIT_MACHINE_TROUBLE');
  expect(found.filter(({ safety }) => safety !== 'safe')).toEqual([]);
});

test('damage elsewhere stands beside it', () => {
  const innochecksum = [
    { command: 'innochecksum a', exitCode: 1, output: 'Fail: page 4 invalid', durationMs: 1 },
  ];
  const starts = healthy.starts.map((start) => ({ ...start, died: 'SIGKILL' }));
  const codes = judged({ starts, innochecksum }).map(({ code }) => code);
  expect(codes).toEqual(expect.arrayContaining(['AUDIT_MACHINE_TROUBLE', 'PAGE_CHECKSUM_BAD']));
});

test('an error of the storage that no row explains leaves a served start open', () => {
  const starts = healthy.starts.map((start) => ({
    ...start,
    errorLines: ['[ERROR] [MY-099999] [InnoDB] Words that nobody has seen yet'],
  }));
  expect(judged({ starts }).map(({ code }) => code)).toEqual(['ERROR_LOG_UNEXPLAINED']);
});
