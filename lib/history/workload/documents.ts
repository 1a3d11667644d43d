/**
 * Documents: values too large for a page, which a database keeps outside the row, and their deletion. A few
 * of each session's appends write or delete one of the session's own, in the same transaction as
 * their row of the ledger. Which, and every byte of it, follows from the operation's ids.
 */
import { createHash } from 'node:crypto';
import type { LedgerEntry, OpId } from './sql.ts';

/** More than half a page of 16 KiB less its overhead, so that no part of it stays in the row. */
export const documentBytes = 10_000;

/** After so many operations of a session the pattern below begins anew. */
export const documentCycle = 128;

/**
 * Within a cycle: one document that is deleted soon, one that lives about a cycle. Early, so that a
 * session that writes once a second has done each within seven of them.
 */
const place = { putsShort: 2, putsLong: 4, deletesLong: 5, deletesShort: 6 } as const;
/** Cycles of which one leaves its longer document for good. */
const keepEvery = 4;

export interface DocumentAction {
  readonly verb: 'put' | 'delete';
  /** The operation of the same session that puts it. */
  readonly seq: number;
}

const stays = (cycle: number): boolean => cycle % keepEvery === 0;

/** What an append does besides its row; undefined for most, and for every transfer. */
export function documentAction({
  kind,
  seq,
}: Pick<LedgerEntry, 'kind' | 'seq'>): DocumentAction | undefined {
  if (kind !== 'append') return undefined;
  const cycle = Math.floor(seq / documentCycle);
  switch (seq % documentCycle) {
    case place.putsShort:
    case place.putsLong:
      return { verb: 'put', seq };
    case place.deletesShort:
      return { verb: 'delete', seq: seq - place.deletesShort + place.putsShort };
    case place.deletesLong:
      if (cycle === 0 || stays(cycle - 1)) return undefined;
      return { verb: 'delete', seq: seq - documentCycle - place.deletesLong + place.putsLong };
    default:
      return undefined;
  }
}

/** Operations of a session below `length` that put a document. */
export function* documentsBelow(length: number): Generator<number> {
  for (let begin = 0; begin < length; begin += documentCycle) {
    for (const at of [place.putsShort, place.putsLong]) if (begin + at < length) yield begin + at;
  }
}

/** The operation of that number, if it was sent as an append, puts a document. */
export const putsDocument = (seq: number): boolean =>
  documentAction({ kind: 'append', seq })?.verb === 'put';

/** Seq of the operation that deletes what the operation `seq` puts; undefined where it is kept. */
export function deletionOf(seq: number): number | undefined {
  const cycle = Math.floor(seq / documentCycle);
  const begin = cycle * documentCycle;
  if (seq - begin === place.putsShort) return begin + place.deletesShort;
  return stays(cycle) ? undefined : begin + documentCycle + place.deletesLong;
}

/** Documents that the schema comes with: also a database that nobody writes to has some to lose. */
export const firstDocuments: readonly OpId[] = [0, 1, 2].map((seq) => ({
  ...{ client: 'schema', connection: 0, session: 0, seq },
}));

/** Its bytes. Those of the first documents are the same in every run. */
export function documentBody(seed: string, { client, connection, session, seq }: OpId): Buffer {
  const name = JSON.stringify([client === 'schema' ? '' : seed, client, connection, session, seq]);
  return createHash('shake256', { outputLength: documentBytes }).update(name).digest();
}
