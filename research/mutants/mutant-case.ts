/** One volume and its history as the judges see them: a mutant, or its clean twin. */
import {
  type Finding,
  type Checker,
  allCheckers,
  judgeImages,
  type AuditedHistory,
  type JournaledOp,
  type EpochBounds,
} from '../../lib/judge/index.ts';
import { bareRun } from '../../test/support/bare-run.ts';
import type { ImageEvidence, LedgerRow, ImageLabel } from '../../lib/history/index.ts';
import { isCaught, isNamed, type DamageClass } from './damage-class.ts';
import { mysql } from '../../lib/mysql/index.ts';

export interface AuditedCopy {
  readonly image: ImageLabel;
  readonly takenAtMs: number;
  readonly evidence: ImageEvidence;
  readonly rows: readonly LedgerRow[];
}

export interface MutantCase {
  /** Kebab-case name of the kind, or of the twin. */
  readonly name: string;
  /** Absent for a clean twin: it has no name. */
  readonly damageClass?: DamageClass;
  /** The run's seed. */
  readonly seed: string;
  readonly moments: EpochBounds;
  readonly ops: readonly JournaledOp[];
  /** In the order in which they were taken. */
  readonly copies: readonly AuditedCopy[];
}

export interface CaseResult {
  readonly findings: readonly Finding[];
  readonly caught: boolean;
  /** A mutant is called what it is; a twin is not called anything. */
  readonly named: boolean;
}

/** Of a volume that no run wrote. */
export function bareHistory({
  seed,
  ops,
  copies,
}: Pick<MutantCase, 'seed' | 'ops' | 'copies'>): AuditedHistory {
  const images = copies.map(({ image, takenAtMs, evidence }) => ({
    ...{ type: 'image' as const, t: takenAtMs, image, takenAtMs, evidence },
  }));
  return {
    smallRecords: () => [bareRun(seed), ...images],
    visitOps: (visit) => ops.forEach(visit),
    rows: (label) => copies.find(({ image }) => image === label)?.rows ?? [],
  };
}

/** `all`: the checkers that are switched on. */
export function judgeCase(
  { damageClass, moments, ...volume }: MutantCase,
  all: readonly Checker[] = allCheckers(mysql),
): CaseResult {
  const { findings } = judgeImages(bareHistory(volume), moments, { database: mysql, all });
  const caught = isCaught(findings);
  const named = damageClass === undefined ? !caught : isNamed(findings, damageClass);
  return { findings, caught, named };
}
