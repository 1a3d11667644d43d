/** What the machine lacks is told apart from what the volume lost, by the words of real tools. */
import { describe, expect, test } from 'vitest';
import type { Finding } from '../verdict/verdict.ts';
import { bareRun } from '../../../test/support/bare-run.ts';
import {
  exampleLedger,
  exampleSeed,
  healthyEvidence,
  rowsOf,
} from '../../../test/support/example-ledger.ts';
import type { ServerStart } from '../../history/evidence.ts';
import { judgeImages } from './index.ts';
import { troubleIn, troubleOfStart } from './server.ts';
import { mysql } from '../../mysql/database.ts';
import type { MysqlImage } from '../../mysql/evidence.ts';

test.each([
  ['mount: /tmp/a: mount(2) system call failed: Cannot allocate memory.', 'no memory'],
  ['[ERROR] [MY-012681] [InnoDB] mmap(137363456 bytes) failed; errno 12', 'no memory'],
  ["[ERROR] [MY-012595] [InnoDB] Error number 12 means 'Cannot allocate memory'", 'no memory'],
  ['Out of memory; restart server and try again (needed 65536 bytes)', 'no memory for a statement'],
  ['cp: error writing ‘copy’: No space left on device', 'no space'],
  ['[ERROR] [MY-012574] [InnoDB] Unable to lock ./ibdata1 error: 11', 'no lock'],
  ['Error: Unable to lock file:: /data/ledger.ibd\nfcntl: Resource temporarily', 'no lock'],
  ['[ERROR] [MY-012583] [InnoDB] io_setup() attempt 5 failed.', 'no asynchronous I/O'],
  ['[ERROR] [MY-012594] [InnoDB] Operating system error number 24 in a file', 'no file handles'],
  ["Can't create a new thread (errno 11)", 'no threads'],
])('%s: %s', (text, name) => {
  expect(troubleIn(text, mysql.log)).toBe(name);
});

/** In the words of committed runs whose volume was damaged. */
const accusations = [
  '[ERROR] [MY-012592] [InnoDB] Operating system error number 117 in a file operation.',
  "[ERROR] [MY-012595] [InnoDB] Error number 117 means 'Structure needs cleaning'",
  "[ERROR] [MY-012595] [InnoDB] Error number 74 means 'Bad message'",
  "[ERROR] [MY-012644] [InnoDB] File ./binlog.000002: 'file_status_posix_stat' returned OS error 117.",
  '[ERROR] [MY-011971] [InnoDB] Tablespace innodb_undo_001 Page [page number=12] log sequence number 12 is in the future!',
  '[ERROR] [MY-013183] [InnoDB] Assertion failure: fut0lst.ic:82:addr.page == FIL_NULL thread 12',
  'mount: wrong fs type, bad option, bad superblock on /dev/loop12',
];

test.each(accusations)('%s: the volume', (line) => {
  expect(troubleIn(line, mysql.log)).toBeUndefined();
});

const failed = (died: string, ...errorLines: string[]): ServerStart => ({
  ...{ purpose: 'recovery', ready: false, durationMs: 900, died, errorLines },
});
const noPool = '[ERROR] [MY-012956] [InnoDB] Cannot allocate memory for the buffer pool';
const afterwords = [
  '[ERROR] [MY-012930] [InnoDB] Plugin initialization aborted with error Generic error.',
  '[ERROR] [MY-010334] [Server] Failed to initialize DD Storage Engine',
  '[ERROR] [MY-010119] [Server] Aborting',
];

describe('a start of the server', () => {
  test('failed for want of memory where it says so and accuses nobody', () => {
    expect(troubleOfStart(failed('exit code 1', noPool, ...afterwords), mysql.log)).toBe(
      'no memory',
    );
    expect(troubleOfStart(failed('exit code 137'), mysql.log)).toBe('killed');
  });

  test('is the volume’s fault where it says anything else, or nothing', () => {
    expect(troubleOfStart(failed('exit code 1', ...afterwords), mysql.log)).toBeUndefined();
    for (const line of accusations.filter((each) => each.includes('[InnoDB]'))) {
      expect(troubleOfStart(failed('exit code 1', noPool, line), mysql.log)).toBeUndefined();
    }
    expect(troubleOfStart(failed('SIGSEGV'), mysql.log)).toBeUndefined();
  });

  test('that went well has no trouble, whatever it warned of', () => {
    const { died: _died, ...start } = failed('', noPool);
    expect(troubleOfStart({ ...start, ready: true }, mysql.log)).toBeUndefined();
  });
});

const ops = [{ outcome: 'ok' as const, stored: true }];
const ledger = exampleLedger([{ client: 'inside', connection: 0, session: 0, node: 'a', ops }]);
const rows = rowsOf(ledger.entries);
const healthy = healthyEvidence(rows);
const unread = { ledgerComplete: false, ledgerRows: 0, balances: {}, tables: [] };

function judged(changed: Partial<MysqlImage>): readonly Finding[] {
  const evidence = { ...healthy, ...changed };
  const found = evidence.ledgerComplete ? rows : [];
  const image = { type: 'image' as const, t: 1, image: 'first' as const, takenAtMs: 1000 };
  const history = {
    smallRecords: () => [bareRun(exampleSeed), { ...image, evidence }],
    visitOps: (visit: (op: (typeof ledger.ops)[number]) => void) => ledger.ops.forEach(visit),
    rows: () => found,
  };
  return judgeImages(history, {}, { database: mysql }).findings;
}

test.each<[string, Partial<MysqlImage>]>([
  [
    'mount',
    { ...unread, mounted: false, mountError: 'mount: Cannot allocate memory.', starts: [] },
  ],
  ['server', { ...unread, starts: [failed('exit code 1', noPool, ...afterwords)] }],
  [
    'statement',
    { ...unread, sqlFailures: [{ what: 'ledger', error: 'Out of memory; restart server' }] },
  ],
  [
    'innochecksum',
    {
      innochecksum: [
        { command: 'i', exitCode: 1, output: 'Error: Unable to lock file:: x', durationMs: 1 },
      ],
    },
  ],
  [
    'CHECK TABLE',
    { tables: healthy.tables.map((each) => ({ ...each, check: 'error: Out of memory.' })) },
  ],
])('trouble of the %s makes a run incomplete, and is no damage', (_, changed) => {
  const found = judged(changed);
  expect(found.map(({ code }) => code)).toContain('AUDIT_MACHINE_TROUBLE');
  expect(found.filter(({ safety }) => safety !== 'safe')).toEqual([]);
});

test('damage elsewhere stands beside it', () => {
  const fsck = { command: 'e2fsck -fn', exitCode: 4, output: 'errors', durationMs: 1 };
  const starts = [failed('exit code 1', noPool, ...afterwords)];
  const codes = judged({ ...unread, starts, fsck }).map(({ code }) => code);
  expect(codes).toEqual(
    expect.arrayContaining(['AUDIT_MACHINE_TROUBLE', 'FSCK_ERRORS', 'ERROR_LOG_OTHER']),
  );
});
