/**
 * By session: which operations a stream of ledger rows holds, and two numbers of 32 bits that are
 * over every value of each of them. The table gives one such stream and the binary log another, in
 * whatever order: the same rows give the same.
 */
import type { LedgerRow } from '../../checkers/evidence.ts';
import { sessionKey, type SessionId } from '../../workload/ledger.ts';
import { SessionMap } from '../../workload/session-map.ts';

/** Ranges of seqs, both ends inclusive, in the order in which they came. */
export type RowRanges = readonly (readonly [from: number, to: number])[];

export interface SessionRows {
  readonly rows: RowRanges;
  /** Hexadecimal. */
  readonly mix: string;
}

/** What a row says, its hashes and its kind aside. */
export type MixedRow = Pick<LedgerRow, 'id' | 'seq' | 'fromAccount' | 'toAccount' | 'amount'>;

interface Session {
  readonly id: SessionId;
  readonly rows: [number, number][];
  low: number;
  high: number;
}

export class SessionMixes {
  readonly #sessions = new SessionMap<Session>();
  readonly #all: Session[] = [];

  /** `kind`: MySQL's number of it; the hashes as `foldHash` gives them. */
  add(id: SessionId, row: MixedRow, kind: number, previousHash: number, hash: number): void {
    const session = this.#sessions.get(id) ?? this.#begin(id);
    // Odd, and another one for each seq: so that what stands in another row counts as another value.
    const place = (row.seq << 1) | 1;
    session.low ^= Math.imul(hash ^ Math.imul(row.id, 0x1b873593), place);
    const values =
      Math.imul(row.fromAccount, 0x165667b1) +
      Math.imul(row.toAccount, 0x19d699a5) +
      Math.imul(row.amount, 0x1f83d9ab) +
      kind;
    session.high ^= Math.imul(previousHash ^ values, place);
    const last = session.rows.at(-1);
    if (last !== undefined && row.seq === last[1] + 1) last[1] = row.seq;
    else session.rows.push([row.seq, row.seq]);
  }

  /** By `sessionKey`. */
  result(): Record<string, SessionRows> {
    return Object.fromEntries(
      this.#all.map(({ id, rows, low, high }) => {
        const mix = (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
        return [sessionKey(id), { rows, mix: mix.toString(16).padStart(16, '0') }];
      }),
    );
  }

  #begin({ client, connection, session }: SessionId): Session {
    const begun = { id: { client, connection, session }, rows: [], low: 0, high: 0 };
    this.#sessions.set(begun.id, begun);
    this.#all.push(begun);
    return begun;
  }
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
