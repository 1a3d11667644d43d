/** The ledger could not be read to its end because the image is damaged. */
import type { JudgedDatabase } from '../database.ts';
import type { Checker } from './checker.ts';
import { damage, corruptAndTold } from './findings.ts';
import { unreadBecause } from './readability.ts';

export const ledgerUnreadable = ({ log }: Pick<JudgedDatabase, 'log'>): Checker => ({
  name: 'ledger-unreadable',
  check({ image, evidence, reconciliation }) {
    if (unreadBecause(evidence, log) !== 'damage') return [];
    const { present, acked } = reconciliation;
    const why = evidence.ledgerError ?? evidence.mountError;
    const summary = `${present} of ${acked} acknowledged commits can be read`;
    const said = [`${evidence.ledgerRows} rows read`, ...(why === undefined ? [] : [why])];
    const about = { code: 'LEDGER_UNREADABLE', ...corruptAndTold, image };
    return [damage({ ...about, summary, evidence: said })];
  },
});
