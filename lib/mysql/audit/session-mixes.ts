/**
 * By session: which operations a stream of ledger rows holds, and two numbers of 32 bits that are
 * over every value of each of them. The table gives one such stream and the binary log another, in
 * whatever order: the same rows give the same.
 */
import { type LedgerRow, sessionKey, type SessionId } from '../../history/index.ts';

/** Ranges of seqs, both ends inclusive, in the order in which they came. */
export type RowRanges = readonly (readonly [from: number, to: number])[];

export interface SessionRows {
  readonly rows: RowRanges;
  /** Hexadecimal. */
  readonly mix: string;
}

/** What a row says, its hashes and its kind aside. */
export type MixedRow = Pick<LedgerRow, 'id' | 'seq' | 'fromAccount' | 'toAccount' | 'amount'>;

/** What one session's rows came to so far. */
export class SessionMix {
  readonly id: SessionId;
  readonly rows: [number, number][] = [];
  #low = 0;
  #high = 0;

  constructor(id: SessionId) {
    this.id = id;
  }

  /** `kind`: MySQL's number of it; the hashes as `foldHash` gives them. */
  add(row: MixedRow, kind: number, previousHash: number, hash: number): void {
    // Odd, and another one for each seq: so that what stands in another row counts as another value.
    const place = (row.seq << 1) | 1;
    this.#low ^= Math.imul(hash ^ Math.imul(row.id, 0x1b873593), place);
    const values =
      Math.imul(row.fromAccount, 0x165667b1) +
      Math.imul(row.toAccount, 0x19d699a5) +
      Math.imul(row.amount, 0x1f83d9ab) +
      kind;
    this.#high ^= Math.imul(previousHash ^ values, place);
    const last = this.rows.at(-1);
    if (last !== undefined && row.seq === last[1] + 1) last[1] = row.seq;
    else this.rows.push([row.seq, row.seq]);
  }

  /** Hexadecimal. */
  mix(): string {
    const mix = (BigInt(this.#high >>> 0) << 32n) | BigInt(this.#low >>> 0);
    return mix.toString(16).padStart(16, '0');
  }
}

/** By `sessionKey`, those that have rows. */
export function sessionRowsOf(mixes: Iterable<SessionMix>): Record<string, SessionRows> {
  const found: Record<string, SessionRows> = {};
  for (const each of mixes) {
    const { id, rows } = each;
    if (rows.length > 0) found[sessionKey(id)] = { rows, mix: each.mix() };
  }
  return found;
}

/** Exclusive or of the 32-bit words of `length` bytes from `at`; what is missing is zero. */
export function foldHash(bytes: Buffer, at: number, length: number): number {
  let folded = 0;
  let n = 0;
  for (; n + 4 <= length; n += 4) {
    const from = at + n;
    folded ^=
      (bytes[from] ?? 0) |
      ((bytes[from + 1] ?? 0) << 8) |
      ((bytes[from + 2] ?? 0) << 16) |
      ((bytes[from + 3] ?? 0) << 24);
  }
  for (let shift = 0; n < length; n++, shift += 8) folded ^= (bytes[at + n] ?? 0) << shift;
  return folded;
}
