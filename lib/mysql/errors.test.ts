import type { QueryError } from 'mysql2';
import { expect, test } from 'vitest';
import { connectError, statementError } from './session.ts';

function queryError(fields: Partial<QueryError>): QueryError {
  return Object.assign(new Error('text'), fields) as QueryError;
}

test.for([
  ['ER_DUP_ENTRY', 1062, '23000', 'fail', false],
  ['ER_LOCK_WAIT_TIMEOUT', 1205, 'HY000', 'fail', false],
  ['ER_LOCK_DEADLOCK', 1213, '40001', 'fail', false],
  ['ER_OPTION_PREVENTS_STATEMENT', 1290, 'HY000', 'fail', false],
  ['ER_CLIENT_INTERACTION_TIMEOUT', 4031, 'HY000', 'fail', true],
  ['ER_ERROR_DURING_COMMIT', 1180, 'HY000', 'info', false],
  ['ER_SERVER_SHUTDOWN', 1053, '08S01', 'info', true],
  ['PROTOCOL_CONNECTION_LOST', undefined, undefined, 'info', true],
  ['ECONNRESET', -104, undefined, 'info', true],
  ['ETIMEDOUT', undefined, undefined, 'info', true],
] as const)('%s', ([code, errno, sqlState, outcome, fatal]) => {
  const known = { code, ...(errno === undefined ? {} : { errno }), ...(sqlState && { sqlState }) };
  expect(statementError(queryError(known))).toMatchObject({ code, outcome, fatal });
});

test('a failed connect never wrote anything', () => {
  const error = connectError(queryError({ code: 'ECONNREFUSED' }));
  expect(error).toMatchObject({ outcome: 'fail', fatal: true, code: 'ECONNREFUSED' });
});
