/** Images of a small ledger, one after the other, and what is said of them. */
import type { ImageEvidence, LedgerRow } from '../../lib/history/evidence.ts';
import {
  judgeImages,
  type AuditedHistory,
  type JudgeOptions,
} from '../../lib/judge/checkers/index.ts';
import type { JournaledOp } from '../../lib/judge/checkers/journal.ts';
import type { Finding } from '../../lib/judge/verdict/verdict.ts';
import { bareRun } from './bare-run.ts';
import { exampleLedger, exampleSeed, healthyEvidence, rowsOf } from './example-ledger.ts';
import { mysql } from '../../lib/mysql/database.ts';
import type { MysqlImage } from '../../lib/mysql/evidence.ts';

const ops = Array.from({ length: 24 }, () => ({ outcome: 'ok' as const, stored: true }));
export const ledger = exampleLedger([
  { client: 'inside', connection: 0, session: 0, node: 'a', ops },
  { client: 'outside', connection: 1, session: 0, node: 'a', ops },
]);
export const rows = rowsOf(ledger.entries);
export const healthy = healthyEvidence(rows);

export interface Image {
  readonly evidence: ImageEvidence;
  readonly rows: readonly LedgerRow[];
}

/** Steady, first, second: as many as are given. */
export const findingsOf = (...images: readonly Image[]): readonly Finding[] =>
  judgedWith(images, ledger.ops);

export function judgedWith(
  images: readonly Image[],
  ops: readonly JournaledOp[],
  more: Pick<JudgeOptions, 'onLost' | 'seen'> = {},
): readonly Finding[] {
  const labels = ['steady', 'first', 'second'] as const;
  const records = images.map(({ evidence }, n) => {
    const image = labels[n] ?? 'second';
    return { type: 'image' as const, t: n, image, takenAtMs: (n + 1) * 1000, evidence };
  });
  const history: AuditedHistory = {
    smallRecords: () => [bareRun(exampleSeed), ...records],
    visitOps: (visit) => ops.forEach(visit),
    rows: (image) => images[labels.indexOf(image)]?.rows ?? [],
  };
  return judgeImages(history, { faultAtMs: 235 }, { database: mysql, ...more }).findings;
}

/** Codes of what is said of one. */
export const judged = (
  changed: Partial<MysqlImage>,
  found: readonly LedgerRow[] = rows,
): string[] =>
  findingsOf({ evidence: { ...healthy, ...changed }, rows: found }).map(({ code }) => code);
