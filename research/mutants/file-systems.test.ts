/** A broken file system is called that, whichever files it lost; other damage is not. */
import { expect, test } from 'vitest';
import type { Finding } from '../../lib/judge/verdict/verdict.ts';
import { isNamed } from './damage-class.ts';
import { fileSystemKinds } from './kinds/file-systems.ts';

const found = (...codes: readonly string[]): Finding[] =>
  codes.map((code) => ({
    ...{ code, level: 'damage', safety: 'corrupt', loud: true, summary: '', evidence: [] },
  }));

/** As three real volumes showed it, whose directories mkfs had laid differently. */
const withoutServer = ['LEDGER_UNREADABLE', 'SERVER_CANNOT_START', 'FSCK_ERRORS'];
const withoutTables = [
  ...['LEDGER_UNREADABLE', 'ERROR_LOG_DAMAGE', 'SQL_REFUSED', 'FSCK_ERRORS'],
  ...['CHECK_TABLE_FAILED', 'CHECKSUM_TABLE_FAILED'],
];
/** Its server answered, and died of the tables that it could not read. */
const withoutCheck = [
  ...['CHECK_TABLE_CRASHED', 'CHECK_TABLE_FAILED', 'ERROR_LOG_DAMAGE', 'FILE_UNREADABLE'],
  'FSCK_ERRORS',
];

test.each(fileSystemKinds)('$name', ({ damageClass }) => {
  expect(isNamed(found(...withoutServer), damageClass)).toBe(true);
  expect(isNamed(found(...withoutTables), damageClass)).toBe(true);
  expect(isNamed(found(...withoutCheck), damageClass)).toBe(true);
  expect(isNamed(found(...withoutCheck, 'PAGE_CHECKSUM_BAD'), damageClass)).toBe(false);
  expect(isNamed(found(...withoutServer, 'LEDGER_PHANTOM'), damageClass)).toBe(false);
  expect(isNamed(found('LEDGER_UNREADABLE', 'SERVER_CANNOT_START'), damageClass)).toBe(false);
});
