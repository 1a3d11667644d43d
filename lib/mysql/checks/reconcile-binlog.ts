/** The binary log against the table of the same image: each holds the same operations, or which not. */
import { sessionKey } from '../../workload/ledger.ts';
import type { BinlogFound } from '../evidence.ts';
import type { LedgerLookup } from '../../checkers/checker.ts';
import { OpSample } from '../../checkers/op-sample.ts';

export interface BinlogReconciliation {
  /** In the table, and not in the log: what replicates or restores from it lacks them. */
  readonly unlogged: OpSample;
  /** In the log, and not in the table. */
  readonly rowless: OpSample;
}

/**
 * Where the redo log is not synced at each commit (innodb_flush_log_at_trx_commit 0 or 2) the binary
 * log is: so the table may lack what was acknowledged after `syncedUntilMs`, and no more is asked of it.
 */
export function reconcileBinlog(
  { rows }: BinlogFound,
  { journal, holds, syncedUntilMs = Infinity, withGaps }: LedgerLookup,
): BinlogReconciliation {
  const unlogged = new OpSample();
  const rowless = new OpSample();
  for (const log of journal.sessions()) {
    const hasGaps = withGaps?.has(log.id.client) === true;
    const isLogged = new Uint8Array(log.length);
    for (const [from, to] of rows[sessionKey(log.id)] ?? []) isLogged.fill(1, from, to + 1);
    for (let seq = 0; seq < log.length; seq++) {
      // Of what a journal with gaps does not tell, nobody has looked up the row either.
      if (hasGaps && !log.wasSent(seq)) continue;
      const isThere = holds(log, seq);
      if (isThere === (isLogged[seq] === 1)) continue;
      if (!isThere && log.ackedAtMs(seq) > syncedUntilMs) continue;
      (isThere ? unlogged : rowless).add({ ...log.id, seq });
    }
  }
  return { unlogged, rowless };
}
