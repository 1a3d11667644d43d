/** One volume and its history as the judges see them: a mutant, or its clean twin. */
import type { Finding } from '../../lib/experiment/verdict/verdict.ts';
import type { Checker } from '../../lib/checkers/checker.ts';
import { bareRun } from '../../lib/checkers/bare-run.ts';
import { checkers, judgeImages } from '../../lib/checkers/index.ts';
import type { JournaledOp, Moments } from '../../lib/checkers/journal.ts';
import type { AuditedCopy } from '../../lib/two-kernels/judge.ts';
import { isCaught, isNamed, type DamageClass } from './damage-class.ts';

export interface MutantCase {
  /** Kebab-case name of the kind, or of the twin. */
  readonly name: string;
  /** Absent for a clean twin: it has no name. */
  readonly damageClass?: DamageClass;
  /** The run's seed. */
  readonly seed: string;
  readonly moments: Moments;
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

/** `all`: the checkers that are switched on. */
export function judgeCase(
  { damageClass, seed, moments, ops, copies }: MutantCase,
  all: readonly Checker[] = checkers,
): CaseResult {
  const images = copies.map(({ image, takenAtMs, evidence }) => ({
    ...{ type: 'image' as const, t: takenAtMs, image, takenAtMs, evidence },
  }));
  const history = {
    smallRecords: () => [bareRun(seed), ...images],
    visitOps: (visit: (op: JournaledOp) => void) => ops.forEach(visit),
    rows: (label: string) => copies.find(({ image }) => image === label)?.rows ?? [],
  };
  const { findings } = judgeImages(history, moments, { all });
  const caught = isCaught(findings);
  const named = damageClass === undefined ? !caught : isNamed(findings, damageClass);
  return { findings, caught, named };
}
