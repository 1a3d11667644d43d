/** The binary log says of the same transactions the same as the tables, and has no gaps. */
import {
  type Checker,
  type LedgerLookup,
  damage,
  opName,
  OpSample,
  type Finding,
} from '../../judge/index.ts';
import { plural } from '../../core/index.ts';
import { sessionKey } from '../../history/index.ts';
import { ownEvidence, type BinlogFound } from '../evidence.ts';
import { parseGtids, union, withGaps, writeGtids } from '../gtid-set.ts';

export const binlog: Checker = {
  name: 'binlog',
  check({ image, evidence, ledger }) {
    const { binlog: found } = ownEvidence(evidence);
    if (found === undefined) return [];
    const findings: Finding[] = [];
    const tell = (
      code: string,
      safety: 'lost' | 'corrupt',
      summary: string,
      evidence: readonly string[],
    ): void => {
      findings.push(damage({ code, image, safety, loud: false, summary, evidence }));
    };
    const { unlogged, rowless } = ledger === undefined ? {} : reconcileBinlog(found, ledger);
    if (unlogged !== undefined && unlogged.count > 0) {
      const summary = `${plural(unlogged.count, 'operation')} in the tables that the binary log does not have`;
      tell('BINLOG_TRANSACTION_MISSING', 'corrupt', summary, unlogged.ops.map(opName));
    }
    if (rowless !== undefined && rowless.count > 0) {
      const summary = `${plural(rowless.count, 'transaction')} of the binary log that the tables do not have`;
      tell('BINLOG_ROW_MISSING', 'lost', summary, rowless.ops.map(opName));
    }
    if (found.differing.length > 0) {
      const summary = `binary log and table have other values of the same operations in ${plural(found.differing.length, 'session')}`;
      tell('BINLOG_DIFFERS', 'corrupt', summary, found.differing);
    }
    if (found.damage.length > 0) {
      tell('BINLOG_DAMAGED', 'corrupt', 'the binary log is not whole', found.damage);
    }
    const gaps = gtidGaps(found);
    if (gaps.length > 0) {
      tell('GTID_GAP', 'corrupt', 'GTIDs are missing, or given twice', gaps);
    }
    return findings;
  },
};

/** What the server knows is what it purged and what its files have, each number once from 1 on. */
function gtidGaps({ gtids, executed, purged, duplicateGtids }: BinlogFound): string[] {
  const known = union(parseGtids(executed));
  const there = union(parseGtids(gtids), parseGtids(purged));
  const gaps = withGaps(known).map((set) => `the server knows ${set}`);
  if (writeGtids(known) !== writeGtids(there)) {
    gaps.push(
      `the server knows ${executed || 'none'}; its files and what it purged have ${writeGtids(there) || 'none'}`,
    );
  }
  if (duplicateGtids > 0) gaps.push(`${plural(duplicateGtids, 'GTID')} twice in its files`);
  return gaps;
}

interface BinlogReconciliation {
  /** In the table, and not in the log: what replicates or restores from it lacks them. */
  readonly unlogged: OpSample;
  /** In the log, and not in the table. */
  readonly rowless: OpSample;
}

/**
 * The binary log against the table of the same image: each holds the same operations, or which not.
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
