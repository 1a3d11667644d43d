/** The ledger could not be read to its end because the image is damaged. */
import type { Checker } from './checker.ts';
import { damage } from './findings.ts';
import { unreadBecause } from './readability.ts';

export const ledgerUnreadable: Checker = {
  name: 'ledger-unreadable',
  check({ image, evidence, reconciliation }) {
    if (unreadBecause(evidence) !== 'damage') return [];
    const { present, acked } = reconciliation;
    const why = evidence.ledgerError ?? evidence.mountError;
    return [
      damage({
        code: 'LEDGER_UNREADABLE',
        image,
        safety: 'corrupt',
        loud: true,
        summary: `${present} of ${acked} acknowledged commits can be read`,
        evidence: [`${evidence.ledgerRows} rows read`, ...(why === undefined ? [] : [why])],
      }),
    ];
  },
};
