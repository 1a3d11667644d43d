/** Every part of the audit is there, or the image's damage says why not. */
import type { Checker } from './checker.ts';
import type { ImageEvidence } from './evidence.ts';
import { incomplete } from './findings.ts';
import { unreadBecause } from './readability.ts';

export const completeness: Checker = {
  name: 'completeness',
  check({ image, evidence, reconciliation: { rows } }) {
    const gaps = [...evidence.failures, ...missingParts(evidence, rows)];
    if (gaps.length === 0) return [];
    const summary = `${image} image: parts of the audit are missing: ${gaps.join('; ').slice(0, 300)}`;
    return [incomplete('AUDIT_INCOMPLETE', summary, gaps)];
  },
};

function missingParts(evidence: ImageEvidence, rows: number): string[] {
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
  need(
    tables.some(({ checksum }) => checksum !== undefined),
    'CHECKSUM TABLE',
  );
  need(
    tables.some(({ check }) => check !== undefined),
    'CHECK TABLE',
  );
  return missing;
}
