/** Checks each streamed ledger row by itself and against the row before it in its session. */
import type { LedgerRow } from '../../../checkers/evidence.ts';
import { entryHash, originHash, sessionKey } from '../../../workload/ledger.ts';
import type { OpKind } from '../../../workload/sql.ts';

/** Columns in the order that `toRow` reads them. `pad_fits` costs the server less than sending pad. */
export const ledgerColumns = [
  'id',
  'client',
  'connection',
  'session',
  'seq',
  'kind',
  'from_account',
  'to_account',
  'amount',
  'previous_hash',
  'hash',
  'pad = DEFAULT(pad) AS pad_fits',
] as const;

type Columns = readonly [
  id: number,
  client: string,
  connection: number,
  session: number,
  seq: number,
  kind: OpKind,
  fromAccount: number,
  toAccount: number,
  amount: number,
  previousHash: Buffer,
  hash: Buffer,
  padFits: number,
];

export class RowVerifier {
  readonly #seed: string;
  /** Hash (hex) of the last row seen, by session. */
  readonly #heads = new Map<string, string>();

  constructor(seed: string) {
    this.#seed = seed;
  }

  toRow(columns: readonly unknown[]): LedgerRow {
    const [id, client, connection, session, seq, kind, fromAccount, toAccount, amount, ...rest] =
      columns as Columns;
    const [previous, stored, padFits] = rest;
    const previousHash = previous.toString('hex');
    const hash = stored.toString('hex');
    const operation = { client, connection, session, seq, kind, fromAccount, toAccount, amount };
    const key = sessionKey(operation);
    const head = this.#heads.get(key) ?? originHash(this.#seed, operation);
    this.#heads.set(key, hash);
    return {
      id,
      ...operation,
      hashFits: padFits === 1 && entryHash({ ...operation, previousHash }) === hash,
      linkFits: previousHash === head,
    };
  }
}
