/** What one crash state shows: what was acknowledged by then against what was found. */
import { balances } from '../checkers/balances.ts';
import type { AuditedImage, Checker } from '../checkers/checker.ts';
import type { ImageEvidence } from '../checkers/evidence.ts';
import { fileSystem } from '../checkers/file-system.ts';
import { incomplete } from '../checkers/findings.ts';
import { runChecks } from '../checkers/index.ts';
import { indexes } from '../checkers/indexes.ts';
import { ledgerLost } from '../checkers/ledger-lost.ts';
import { rowCheckers } from '../checkers/ledger-rows.ts';
import { ledgerUnreadable } from '../checkers/ledger-unreadable.ts';
import { unreadBecause } from '../checkers/readability.ts';
import type { Reconciliation } from '../checkers/reconcile.ts';
import { replaced } from '../checkers/replaced.ts';
import { errorLog, serverStarts } from '../checkers/server.ts';
import { sqlFailures } from '../checkers/sql-failures.ts';
import { tableChecks } from '../checkers/table-checks.ts';
import { verdictWord, worst, type Finding, type VerdictWord } from '../experiment/verdict.ts';

/** All but those that ask for parts that a crash state is not asked for. */
const checkers: readonly Checker[] = [
  ledgerLost,
  ledgerUnreadable,
  ...rowCheckers,
  balances,
  indexes,
  serverStarts,
  errorLog,
  sqlFailures,
  tableChecks,
  fileSystem,
  replaced,
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
): StateJudgement {
  const findings = runChecks([{ image: name, evidence, reconciliation }], checkers);
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
