/** What a MySQL error says about the statement that met it: certainly not committed, or unknown. */
import type { QueryError } from 'mysql2';
import { SqlError } from '../history/index.ts';

/**
 * Server errors that can come from the commit itself (MySQL's error reference): the transaction
 * may stand after the server's recovery. Every other server error comes from before the commit.
 */
const commitErrors = new Set([
  3, // EE_WRITE: the binary log could not be written
  1026, // ER_ERROR_ON_WRITE
  1053, // ER_SERVER_SHUTDOWN
  1180, // ER_ERROR_DURING_COMMIT
  1317, // ER_QUERY_INTERRUPTED
  1598, // ER_BINLOG_LOGGING_IMPOSSIBLE
]);

/** Server errors after which it closes the connection. */
const sessionErrors = new Set([
  1053, // ER_SERVER_SHUTDOWN
  4031, // ER_CLIENT_INTERACTION_TIMEOUT
]);

/** The error of a statement that was sent. */
export function statementError(error: QueryError): SqlError {
  const { errno } = error;
  // Only an error packet has an SQL state; without one the connection or the protocol broke.
  const fromServer = error.sqlState !== undefined && errno !== undefined;
  const unknown = !fromServer || commitErrors.has(errno);
  return new SqlError(error.message, {
    outcome: unknown ? 'info' : 'fail',
    fatal: !fromServer || sessionErrors.has(errno),
    code: error.code ?? 'UNKNOWN',
    cause: error,
  });
}

/** The error of a connect: nothing was sent, and there is no session. */
export function connectError(error: unknown): SqlError {
  const { code, message } = error as Partial<QueryError>;
  return new SqlError(message ?? String(error), {
    outcome: 'fail',
    fatal: true,
    code: code ?? 'UNKNOWN',
    cause: error,
  });
}

/** Given to a socket that is destroyed because the server kept silent. */
export function timeoutError(
  what: 'connect' | 'operation',
  afterMs: number,
): NodeJS.ErrnoException {
  const error: NodeJS.ErrnoException = new Error(`no answer to the ${what} in ${afterMs} ms`);
  error.code = 'ETIMEDOUT';
  return error;
}
