/** Brings what the bare writers journaled and the auditor read before the judges. */
import { bareRun } from '../checkers/bare-run.ts';
import { judgeImages, type Judgement } from '../checkers/index.ts';
import type { JournaledOp, Moments } from '../checkers/journal.ts';
import type { ImageEvidence, LedgerRow } from '../checkers/evidence.ts';
import type { ImageLabel, ImageRecord } from '../history/events.ts';
import { sessionKey } from '../workload/ledger.ts';
import type { WriterRecord } from '../workload/writer.ts';

export interface AuditedCopy {
  readonly image: ImageLabel;
  readonly takenAtMs: number;
  readonly evidence: ImageEvidence;
  readonly rows: readonly LedgerRow[];
}

export function judge(
  seed: string,
  records: readonly WriterRecord[],
  copies: readonly AuditedCopy[],
  moments: Moments = {},
): Judgement {
  const images = copies.map(
    ({ image, takenAtMs, evidence }): ImageRecord => ({
      type: 'image',
      t: takenAtMs,
      image,
      takenAtMs,
      evidence,
    }),
  );
  return judgeImages(
    {
      smallRecords: () => [bareRun(seed), ...images],
      visitOps: (visit) => journaledOps(records).forEach(visit),
      rows: (image) => copies.find((copy) => copy.image === image)?.rows ?? [],
    },
    moments,
  );
}

/** Each operation with its outcome, as a history's reader pairs them. */
export function journaledOps(records: readonly WriterRecord[]): JournaledOp[] {
  const nodes = new Map<string, string>();
  const ops = new Map<string, JournaledOp>();
  for (const record of records) {
    if (record.type === 'client-beat') continue;
    const session = sessionKey(record);
    if (record.type === 'session') {
      if (record.server !== undefined) nodes.set(session, record.server.node);
      continue;
    }
    const { client, connection, session: number, seq } = record;
    const node = nodes.get(session);
    const op = {
      ...{ client, connection, session: number, seq, outcome: 'info' as const },
      ...(node === undefined ? {} : { server: { node } }),
    };
    const ended = record.type === 'outcome' && { outcome: record.outcome, endedAtMs: record.t };
    ops.set(`${session}/${seq}`, { ...op, ...ended });
  }
  return [...ops.values()];
}

/** Operations that were acknowledged. */
export const ackedIn = (records: readonly WriterRecord[]): number =>
  records.filter((record) => record.type === 'outcome' && record.outcome === 'ok').length;
