/** What one crash state shows: what was acknowledged by then against what was found. */
import type { AuditedImage, Checker } from '../checkers/checker.ts';
import { completeness } from '../checkers/completeness.ts';
import type { ImageEvidence } from '../checkers/evidence.ts';
import { incomplete } from '../checkers/findings.ts';
import { checkers as ofAudits, runChecks } from '../checkers/index.ts';
import { unreadBecause } from '../checkers/machine-trouble.ts';
import type { Reconciliation } from '../checkers/reconcile.ts';
import {
  verdictWord,
  worst,
  type Finding,
  type VerdictWord,
} from '../experiment/verdict/verdict.ts';

/** All but those that ask for parts that a crash state is not asked for. */
const checkers: readonly Checker[] = [
  ...ofAudits.filter((each) => each !== completeness),
  { name: 'gaps', check: gaps },
];

export interface StateJudgement {
  readonly verdict: VerdictWord;
  /** Commits acknowledged by then, and those of them that are gone or can't be read. */
  readonly acked: number;
  readonly lost: number;
  readonly serverStarted: boolean;
  readonly findings: readonly Finding[];
}

export function judgeState(
  name: string,
  evidence: ImageEvidence,
  reconciliation: Reconciliation,
  takenAtMs: number,
): StateJudgement {
  const findings = runChecks([{ image: name, evidence, reconciliation, takenAtMs }], checkers);
  const complete = findings.every(({ level }) => level !== 'incomplete');
  return {
    verdict: verdictWord(worst(findings.map(({ safety }) => safety)), complete),
    acked: reconciliation.acked,
    lost: reconciliation.lost,
    serverStarted: evidence.starts[0]?.ready === true,
    findings,
  };
}

/** What could not be read although nothing was damaged. */
function gaps({ image, evidence }: AuditedImage): Finding[] {
  const unread = unreadBecause(evidence) === 'gap' ? ['the ledger was not read to its end'] : [];
  const missing = [...evidence.failures, ...unread];
  if (missing.length === 0) return [];
  return [incomplete('AUDIT_INCOMPLETE', `${image}: ${missing.join('; ')}`, missing)];
}
