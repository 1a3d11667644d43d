/**
 * How the audit tool in the lab talks to the auditor outside: one JSON value a line. Rows travel in
 * batches by column, since a million objects would cost more than reading them from MySQL.
 */
import type { ImageEvidence, LedgerRow } from '../../../checkers/evidence.ts';

/** Rows in one line. */
export const batchRows = 1000;

type Columns = readonly (string | number | boolean)[];

export type AuditMessage =
  | { readonly type: 'step'; readonly step: string }
  | { readonly type: 'rows'; readonly columns: readonly Columns[] }
  | { readonly type: 'evidence'; readonly evidence: ImageEvidence };

const fields = [
  'id',
  'client',
  'connection',
  'session',
  'seq',
  'kind',
  'fromAccount',
  'toAccount',
  'amount',
  'hashFits',
  'linkFits',
] as const satisfies readonly (keyof LedgerRow)[];

export function encodeRows(rows: readonly LedgerRow[]): AuditMessage {
  return { type: 'rows', columns: fields.map((field) => rows.map((row) => row[field])) };
}

export function decodeRows(columns: readonly Columns[], onRow: (row: LedgerRow) => void): void {
  const count = columns[0]?.length ?? 0;
  for (let index = 0; index < count; index++) {
    const row: Record<string, unknown> = {};
    for (const [column, field] of fields.entries()) row[field] = columns[column]?.[index];
    onRow(row as unknown as LedgerRow);
  }
}
