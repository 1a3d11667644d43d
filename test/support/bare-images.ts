/** Brings what bare writers journaled, and what was read from a volume without a run, before the judges. */
import { judgeImages, type Judgement } from '../../lib/judge/checkers/index.ts';
import type { EpochBounds } from '../../lib/judge/checkers/journal.ts';
import { pairOperations } from './pair-operations.ts';
import { bareHistory, type AuditedCopy } from '../../research/mutants/mutant-case.ts';
import type { WriterRecord } from '../../lib/run/workload.ts';
import { mysql } from '../../lib/mysql/database.ts';

export function judge(
  seed: string,
  records: readonly WriterRecord[],
  copies: readonly AuditedCopy[],
  moments: EpochBounds = {},
): Judgement {
  const ops = [...pairOperations(records)];
  return judgeImages(bareHistory({ seed, ops, copies }), moments, { database: mysql });
}

/** Operations that were acknowledged. */
export const ackedIn = (records: readonly WriterRecord[]): number =>
  records.filter((record) => record.type === 'outcome' && record.outcome === 'ok').length;
