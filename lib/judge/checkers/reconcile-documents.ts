/**
 * Documents against the ledger of the same image, whose rows were written in the same transactions,
 * and against the journal: what each put and each deletion became.
 */
import {
  deletionOf,
  documentsBelow,
  firstDocuments,
  putsDocument,
  clientSides,
  sessionKey,
  type OpId,
  type DocumentsFound,
} from '../../history/index.ts';
import type { SessionLog } from './journal.ts';
import { OpSample } from './op-sample.ts';
import type { ReconcilerOptions } from './reconcile.ts';

export interface DocumentReconciliation {
  /** Documents found. */
  readonly count: number;
  /** Found, with other bytes than were written. */
  readonly torn: DocumentsFound['torn'];
  /** The row that came with it is there and it is not. */
  readonly missing: OpSample;
  /** There, and so is the row that came with its deletion. */
  readonly half: OpSample;
  /** There although its deletion was acknowledged, whose row is gone too. */
  readonly undeleted: OpSample;
  /** There, and nobody sent it, or its own row is gone. */
  readonly phantoms: OpSample;
}

export interface DocumentOptions
  extends Pick<ReconcilerOptions, 'journal' | 'takenAtMs' | 'withGaps'> {
  /** The image's ledger has the row of an operation; undefined where it could not be read. */
  readonly holds: ((log: SessionLog, seq: number) => boolean) | undefined;
}

export function reconcileDocuments(
  { found, torn }: DocumentsFound,
  options: DocumentOptions,
): DocumentReconciliation {
  const result = {
    count: Object.values(found).reduce((sum, seqs) => sum + seqs.length, 0),
    torn,
    missing: new OpSample(),
    half: new OpSample(),
    undeleted: new OpSample(),
    phantoms: new OpSample(),
  };
  const unexplained = new Map(Object.entries(found).map(([key, seqs]) => [key, new Set(seqs)]));
  const take = (id: OpId): boolean => unexplained.get(sessionKey(id))?.delete(id.seq) === true;
  for (const id of firstDocuments) if (!take(id)) result.missing.add(id);
  for (const log of options.journal.sessions()) {
    for (const seq of documentsBelow(log.length)) {
      if (log.wasSent(seq))
        judge(log, { ...log.id, seq }, take({ ...log.id, seq }), options, result);
    }
  }
  for (const id of rest(unexplained)) if (!mayBeSent(id, options)) result.phantoms.add(id);
  return result;
}

function judge(
  log: SessionLog,
  id: OpId,
  isThere: boolean,
  { takenAtMs, holds, withGaps }: DocumentOptions,
  { missing, half, undeleted, phantoms }: DocumentReconciliation,
): void {
  const deletion = deletionOf(id.seq);
  const deletedAtMs = deletion === undefined ? Number.POSITIVE_INFINITY : log.ackedAtMs(deletion);
  if (holds === undefined) {
    if (isThere && deletedAtMs <= takenAtMs) undeleted.add(id);
    return;
  }
  const hasDeletion = deletion !== undefined && holds(log, deletion);
  // A journal with gaps may not tell of it.
  const mayBeDeleted =
    deletion !== undefined && withGaps?.has(id.client) === true && !log.wasSent(deletion);
  if (!isThere) {
    if (holds(log, id.seq) && !hasDeletion && !mayBeDeleted) missing.add(id);
  } else if (hasDeletion) half.add(id);
  else if (deletedAtMs <= takenAtMs) undeleted.add(id);
  else if (!holds(log, id.seq)) phantoms.add(id);
}

function* rest(found: ReadonlyMap<string, ReadonlySet<number>>): Generator<OpId> {
  for (const [key, seqs] of found) {
    const [client = '', connection, session] = key.split('/');
    for (const seq of seqs) {
      yield { client, connection: Number(connection), session: Number(session), seq };
    }
  }
}

/** Asks as for rows: one whose record is missing beside a gap is no phantom. */
function mayBeSent(id: OpId, { journal, withGaps }: DocumentOptions): boolean {
  const { client, seq } = id;
  if (!clientSides.some((side) => side === client) || !putsDocument(seq)) return false;
  return withGaps?.has(client) === true || !journal.tellsOf(client);
}
