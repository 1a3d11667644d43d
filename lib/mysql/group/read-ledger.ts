/** Reads all that a member holds of the workload, while it serves. */
import type { LedgerQuery, LedgerReading } from '../../run/index.ts';
import { checksums, streamLedger } from '../audit/read-tables.ts';
import { RowVerifier } from '../audit/row-verifier.ts';
import { SqlClient } from '../audit/sql-client.ts';

/** A member online may be so far behind the primary when the writers have stopped. */
const catchUpS = 30;

export async function readLedger(path: string, reading: LedgerQuery): Promise<LedgerReading> {
  const { node, upTo, seed, onRow } = reading;
  const client = await SqlClient.connect(path);
  try {
    if (upTo !== undefined) {
      await client.query(`SELECT WAIT_FOR_EXECUTED_GTID_SET('${upTo}', ${catchUpS})`);
    }
    let rows = 0;
    await streamLedger(client, new RowVerifier(seed), (batch) => {
      rows += batch.length;
      for (const row of batch) onRow(row);
    });
    const found = await checksums(client);
    const known = upTo === undefined ? '@@gtid_executed' : `'${upTo}'`;
    const [gtids] = await client.query(
      `SELECT @@gtid_executed AS executed, GTID_SUBTRACT(@@gtid_executed, ${known}) AS beyond`,
    );
    return {
      node,
      rows,
      checksums: [...found].map(([table, checksum]) => `${table} ${checksum}`),
      gtids: String(gtids?.['executed']),
      beyond: String(gtids?.['beyond']),
    };
  } finally {
    client.destroy();
  }
}
