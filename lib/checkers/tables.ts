/** Tables agree with each other: balances with the ledger, an index with its table. */
import { initialBalance } from '../workload/ledger.ts';
import type { Checker } from './checker.ts';
import { damage } from './findings.ts';
import { plural } from '../counts.ts';

export const balances: Checker = {
  name: 'balances',
  check({ image, evidence, reconciliation, before }) {
    const found = evidence.balances;
    if (reconciliation.unread !== undefined || Object.keys(found).length === 0) return [];
    const { movements } = reconciliation;
    const accounts = new Set([
      ...Object.keys(found).map(Number),
      ...Object.keys(before?.evidence.balances ?? {}).map(Number),
      ...movements.keys(),
    ]);
    const wrong: string[] = [];
    for (const account of accounts) {
      const expected = initialBalance + (movements.get(account) ?? 0);
      const balance = found[account];
      if (balance === expected) continue;
      wrong.push(`account ${account}: ${balance ?? 'no row'}, the ledger says ${expected}`);
    }
    if (wrong.length === 0) return [];
    const summary = `${plural(wrong.length, 'balance')} not what the ledger's transfers make it`;
    const code = 'BALANCE_WRONG';
    return [damage({ code, image, safety: 'corrupt', loud: false, summary, evidence: wrong })];
  },
};

/** Reading a table by its primary key and by a secondary index must give the same rows. */
export const indexes: Checker = {
  name: 'indexes',
  check: ({ image, evidence }) =>
    evidence.indexCounts
      .filter(
        ({ byPrimary, byIndex, valuesAgree }) => byPrimary !== byIndex || valuesAgree === false,
      )
      .map(({ table, index, byPrimary, byIndex }) => {
        const counts = `${byPrimary} rows by primary key, ${byIndex} by ${index}`;
        return damage({
          code: 'INDEX_OUT_OF_STEP',
          image,
          safety: 'corrupt',
          loud: false,
          summary: `index ${index} of ${table} disagrees with the table`,
          evidence: [byPrimary === byIndex ? `${counts}, with other values` : counts],
        });
      }),
};
