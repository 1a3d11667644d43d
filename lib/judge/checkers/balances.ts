/** Every balance is what the ledger's transfers made it: both were written in one transaction. */
import { initialBalance } from '../../history/index.ts';
import type { Checker } from './checker.ts';
import { damage, corruptInSilence } from './findings.ts';
import { plural } from '../../core/index.ts';

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
    return [damage({ code, ...corruptInSilence, image, summary, evidence: wrong })];
  },
};
