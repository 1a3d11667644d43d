/** Checks each streamed ledger row by itself and against the row before it in its session. */
import { hash } from 'node:crypto';
import type { LedgerRow } from '../../../checkers/evidence.ts';
import { originHash, sessionKey } from '../../../workload/ledger.ts';
import type { OpKind } from '../../../workload/sql.ts';

/**
 * One row as one text, since a driver needs longer for twelve columns than for the whole of their
 * content: `id|pad fits|hash|` and then the words that the row's hash is over (`entryHash`).
 */
export const ledgerText =
  "CONCAT_WS('|', id, pad = DEFAULT(pad), LOWER(HEX(hash)), LOWER(HEX(previous_hash))," +
  ' client, connection, session, seq, kind, from_account, to_account, amount)';

const hashLength = 64;

export class RowVerifier {
  readonly #seed: string;
  /** Hash of the last row seen, by session. */
  readonly #heads = new Map<string, string>();

  constructor(seed: string) {
    this.#seed = seed;
  }

  /** `text` is what `ledgerText` gives. */
  toRow(text: string): LedgerRow {
    const padAt = text.indexOf('|') + 1;
    const hashAt = padAt + 2;
    const previousAt = hashAt + hashLength + 1;
    const stored = text.slice(hashAt, previousAt - 1);
    const words = text.slice(previousAt).split('|');
    const [previousHash, client = '', connection, session, seq, kind, ...rest] = words;
    const [fromAccount, toAccount, amount] = rest;
    const id = { client, connection: Number(connection), session: Number(session) };
    const key = sessionKey(id);
    const head = this.#heads.get(key) ?? originHash(this.#seed, id);
    this.#heads.set(key, stored);
    return {
      id: Number(text.slice(0, padAt - 1)),
      ...id,
      seq: Number(seq),
      kind: kind as OpKind,
      fromAccount: Number(fromAccount),
      toAccount: Number(toAccount),
      amount: Number(amount),
      hashFits: text[padAt] === '1' && hash('sha256', text.slice(previousAt)) === stored,
      linkFits: previousHash === head,
    };
  }
}
