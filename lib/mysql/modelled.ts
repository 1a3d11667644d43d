/** What an audit of MySQL finds on a sound volume, for the model: it has no log and no pages of its own. */
import { hash } from 'node:crypto';
import type { OwnPart } from '../judge/index.ts';
import { sessionKey, type LedgerEntry } from '../history/index.ts';
import type { BinlogFound, MysqlEvidence } from './evidence.ts';

export const modelled: OwnPart['modelled'] = (
  rows,
  balances,
  notModelled,
  { binlog },
): MysqlEvidence => ({
  ...(binlog === 'off' ? {} : { binlog: binlogOf(rows) }),
  tables: [
    { table: 'ledger', check: 'OK', checksum: checksum(rows.map((entry) => entry.hash)) },
    { table: 'account', check: 'OK', checksum: checksum(Object.values(balances)) },
    { table: 'document', check: 'OK', checksum: checksum([rows.length]) },
  ],
  innochecksum: [notModelled('innochecksum')],
});

const checksum = (values: readonly (string | number)[]): string =>
  hash('sha256', values.join()).slice(0, 8);

/** A log as it must be: every row is in it once. */
function binlogOf(rows: readonly LedgerEntry[]): BinlogFound {
  const ranges: Record<string, [number, number][]> = {};
  for (const entry of rows) {
    const ofSession = (ranges[sessionKey(entry)] ??= []);
    const last = ofSession.at(-1);
    if (last !== undefined && entry.seq === last[1] + 1) last[1] = entry.seq;
    else ofSession.push([entry.seq, entry.seq]);
  }
  const gtids = rows.length === 0 ? '' : `model:1-${rows.length}`;
  const sets = { gtids, executed: gtids, purged: '', duplicateGtids: 0 };
  const read = { files: ['binlog (model)'], bytes: 0, transactions: rows.length };
  return { ...read, ...sets, rows: ranges, differing: [], damage: [] };
}
