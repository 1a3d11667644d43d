/** What was sent as each operation, found again from the run's seed. */
import { type OpContent, sessionContents, sessionKey } from '../workload/ledger.ts';
import type { LedgerRow } from './evidence.ts';

export class Contents {
  readonly #seed: string;
  readonly #sessions = new Map<string, (seq: number) => OpContent>();

  constructor(seed: string) {
    this.#seed = seed;
  }

  /** The row says what was (or would have been) sent as this operation. */
  wasSent(row: LedgerRow): boolean {
    const sent = this.#of(row)(row.seq);
    return (
      sent.kind === row.kind &&
      sent.amount === row.amount &&
      sent.fromAccount === row.fromAccount &&
      sent.toAccount === row.toAccount
    );
  }

  #of(row: LedgerRow): (seq: number) => OpContent {
    const key = sessionKey(row);
    let contents = this.#sessions.get(key);
    if (contents === undefined) {
      contents = sessionContents(this.#seed, row);
      this.#sessions.set(key, contents);
    }
    return contents;
  }
}
