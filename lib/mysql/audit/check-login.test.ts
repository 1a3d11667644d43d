import { expect, test } from 'vitest';
import { checkLogin, type SqlClient } from './sql-client.ts';

/** Answers as a server that refuses one table to this account. */
const refusing = (code: string, table: string): SqlClient =>
  ({
    query: async (sql: string) => {
      const error = sql.includes('mysql.user') ? 'ER_TABLEACCESS_DENIED_ERROR' : code;
      if (!sql.includes(table) && !sql.includes('mysql.user')) return [];
      throw Object.assign(new Error(`no to ${sql}`), { code: error, sqlState: 'HY000' });
    },
  }) as unknown as SqlClient;

test('what the account may not do is a matter of its login', async () => {
  const found = await checkLogin(refusing('ER_TABLEACCESS_DENIED_ERROR', '.account'));
  expect(found.refused).toContain('account');
  expect(await checkLogin(refusing('', 'none'))).toEqual({});
});

test.each(['ER_TABLESPACE_MISSING', 'ER_CRASHED_ON_USAGE', 'ER_GET_ERRNO', 'ER_FILE_NOT_FOUND'])(
  '%s is none: nobody can read that table',
  async (code) => {
    await expect(checkLogin(refusing(code, '.account'))).rejects.toMatchObject({ code });
  },
);
