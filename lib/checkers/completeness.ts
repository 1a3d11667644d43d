/** Every part of the audit is there, or the image's damage, or the machine's trouble, says why not. */
import type { Finding } from '../experiment/verdict.ts';
import { workloadTables } from '../workload/ledger.ts';
import type { AuditedImage, Checker } from './checker.ts';
import type { ImageEvidence, ServerStart, TableCheck } from './evidence.ts';
import { incomplete } from './findings.ts';
import { troublesOf } from './machine-trouble.ts';
import { unreadBecause } from './readability.ts';

export const completeness: Checker = {
  name: 'completeness',
  check({ image, evidence, reconciliation: { rows }, before, ...about }) {
    const { wholeWorkload = false, hasBinlog = false } = about;
    const asked = { wholeWorkload, hasBinlog };
    const missing = missingParts(evidence, rows, before?.evidence, asked);
    const gaps = [...evidence.failures, ...missing];
    const troubles = troublesOf(evidence);
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
};

/** The workload before it was whole. */
const firstTables = ['ledger', 'account'];
const purposes: readonly ServerStart['purpose'][] = ['recovery', 'cold', 'check'];

type Asked = Required<Pick<AuditedImage, 'wholeWorkload' | 'hasBinlog'>>;

function missingParts(
  evidence: ImageEvidence,
  rows: number,
  before: ImageEvidence | undefined,
  { wholeWorkload, hasBinlog }: Asked,
): string[] {
  if (rows !== evidence.ledgerRows) {
    return [`the audit read ${evidence.ledgerRows} rows, and ${rows} are at hand`];
  }
  const unread = unreadBecause(evidence);
  if (unread === 'gap') return ['the ledger was not read to its end'];
  const { starts, tables, sqlFailures = [] } = evidence;
  const served = starts.every(({ ready, died }) => ready && died === undefined);
  // A server that died or refused answers took the other parts with it: that is in its findings.
  if (unread === 'damage' || !served || sqlFailures.length > 0) return [];
  const missing: string[] = [];
  const need = (there: boolean, part: string): void => {
    if (!there) missing.push(`no ${part}`);
  };
  need(evidence.fsck !== undefined || evidence.isDirectory === true, 'fsck');
  need(Object.keys(evidence.balances).length > 0, 'balances');
  need(evidence.indexCounts.length > 0, 'comparison of the indexes');
  need(evidence.innochecksum.length > 0, 'innochecksum');
  for (const purpose of purposes) {
    const began = starts.some((start) => start.purpose === purpose);
    need(began, `start of the server for ${purpose}`);
  }
  if (wholeWorkload) {
    need(evidence.documents !== undefined, 'documents');
    need(evidence.schema !== undefined, 'look at the schema');
    need(evidence.binlog !== undefined || !hasBinlog, 'binary log');
    need(evidence.login !== undefined, 'login of an ordinary client');
  }
  for (const table of wholeWorkload ? workloadTables : firstTables) {
    const found = tables.find((each) => isTable(each, table));
    need(found?.checksum !== undefined, `CHECKSUM TABLE of ${table}`);
    need(found?.check !== undefined, `CHECK TABLE of ${table}`);
  }
  for (const { table, check } of before?.tables ?? []) {
    const found = tables.find((each) => each.table === table);
    need(check === undefined || found !== undefined, `${table}, which the image before has`);
  }
  return missing;
}

/** On a real server with the database's name before it. */
const isTable = ({ table }: TableCheck, name: string): boolean =>
  table === name || table.endsWith(`.${name}`);
