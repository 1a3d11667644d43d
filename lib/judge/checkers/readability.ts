/** Why a ledger could not be read to its end: because it is damaged, or because the audit failed. */
import type { ServerLog } from '../database.ts';
import type { ImageEvidence, ServerStart, Unread } from '../../history/index.ts';
import { troubleIn, troubleOfStart } from './machine-trouble.ts';

/** Signals that come from outside the server (out of memory, a person): no sign of damage. */
const foreignSignals = ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP'];

/** The server ended by itself at some time of its life. */
export const diedByItself = ({ died }: ServerStart): boolean =>
  died !== undefined && !foreignSignals.includes(died);

/** It was not ready, and said why or ended: not merely slow. */
export const refusedToStart = (start: ServerStart): boolean =>
  !start.ready && (diedByItself(start) || start.errorLines.length > 0);

/** It failed, and not for want of something on the machine. */
const accuses = (start: ServerStart, log: ServerLog): boolean =>
  (diedByItself(start) || refusedToStart(start)) && troubleOfStart(start, log) === undefined;

/**
 * Undefined when every row was read. `rows`: how many of those that the audit read are at hand; a
 * history that was cut has fewer. Default: all.
 */
export function unreadBecause(
  evidence: ImageEvidence,
  log: ServerLog,
  rows: number = evidence.ledgerRows,
): Unread | undefined {
  const { ledgerComplete, mounted, mountError, dataDirectoryEmpty, starts } = evidence;
  if (rows !== evidence.ledgerRows) return 'gap';
  if (ledgerComplete) return undefined;
  const damaged =
    (!mounted && mountError !== undefined && troubleIn(mountError, log) === undefined) ||
    dataDirectoryEmpty ||
    starts.some((start) => accuses(start, log)) ||
    (evidence.sqlFailures ?? []).some(
      ({ what, error }) => what === 'ledger' && troubleIn(error, log) === undefined,
    );
  return damaged ? 'damage' : 'gap';
}
