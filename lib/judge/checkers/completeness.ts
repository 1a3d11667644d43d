/** Every part of the audit is there, or the image's damage, or the machine's trouble, says why not. */
import type { Finding } from '../verdict/verdict.ts';
import type { JudgedDatabase } from '../database.ts';
import type { OwnAsked } from '../database.ts';
import type { Checker } from './checker.ts';
import type { ImageEvidence, ServerStart } from '../../history/index.ts';
import { incomplete } from './findings.ts';
import { troubleIn, troubleOfStart } from './machine-trouble.ts';
import { unreadBecause } from './readability.ts';

export const completenessName = 'completeness';

export const completeness = (database: JudgedDatabase): Checker => ({
  name: completenessName,
  check({ image, evidence, reconciliation: { rows }, before, ...about }) {
    const { wholeWorkload = false, settings = database.leastAsked } = about;
    const asked = { wholeWorkload, settings, before: before?.evidence };
    const missing = missingParts(database, evidence, rows, asked);
    const gaps = [...evidence.failures, ...missing];
    const troubles = troublesOf(database, evidence);
    const findings: Finding[] = [];
    if (troubles.length > 0) {
      const told = troubles.join('; ').slice(0, 300);
      const summary = `${image} image: the machine lacked what its audit needs: ${told}`;
      findings.push(incomplete('AUDIT_MACHINE_TROUBLE', summary, troubles));
    }
    if (gaps.length > 0) {
      const told = gaps.join('; ').slice(0, 300);
      const summary = `${image} image: parts of the audit are missing: ${told}`;
      findings.push(incomplete('AUDIT_INCOMPLETE', summary, gaps));
    }
    return findings;
  },
});

const purposes: readonly ServerStart['purpose'][] = ['recovery', 'cold', 'check'];

function missingParts(
  { own, log }: JudgedDatabase,
  evidence: ImageEvidence,
  rows: number,
  asked: OwnAsked,
): string[] {
  if (rows !== evidence.ledgerRows) {
    return [`the audit read ${evidence.ledgerRows} rows, and ${rows} are at hand`];
  }
  const unread = unreadBecause(evidence, log);
  if (unread === 'gap') return ['the ledger was not read to its end'];
  const { starts, sqlFailures = [] } = evidence;
  const served = starts.every(({ ready, died }) => ready && died === undefined);
  // A server that died or refused answers took the other parts with it: that is in its findings.
  if (unread === 'damage' || !served || sqlFailures.length > 0) return [];
  const gaps = own.gaps(evidence, asked);
  const missing: string[] = [];
  const need = (there: boolean, part: string): void => {
    if (!there) missing.push(`no ${part}`);
  };
  need(evidence.fsck !== undefined || evidence.isDirectory === true, 'fsck');
  need(Object.keys(evidence.balances).length > 0, 'balances');
  need(evidence.indexCounts.length > 0, 'comparison of the indexes');
  missing.push(...gaps.pages);
  for (const purpose of purposes) {
    const began = starts.some((start) => start.purpose === purpose);
    need(began, `start of the server for ${purpose}`);
  }
  if (asked.wholeWorkload) {
    need(evidence.documents !== undefined, 'documents');
    need(evidence.schema !== undefined, 'look at the schema');
    missing.push(...gaps.logs);
    need(evidence.login !== undefined, 'login of an ordinary client');
  }
  missing.push(...gaps.tables);
  return missing;
}

/** Every trouble that an audit met and what it kept from being read. */
function troublesOf({ own, log }: JudgedDatabase, evidence: ImageEvidence): string[] {
  const { mountError, starts, sqlFailures = [] } = evidence;
  const told: string[] = [];
  const tell = (what: string, trouble: string | undefined, said: string): void => {
    if (trouble !== undefined) told.push(`${what}: ${trouble} (${said})`);
  };
  if (mountError !== undefined) tell('mount', troubleIn(mountError, log), mountError);
  for (const start of starts) {
    tell(`server for ${start.purpose}`, troubleOfStart(start, log), start.errorLines.join('; '));
  }
  for (const { what, error } of sqlFailures) tell(what, troubleIn(error, log), error);
  for (const { what, answer } of own.answers(evidence)) {
    tell(what, troubleIn(answer, log), answer);
  }
  return told;
}
