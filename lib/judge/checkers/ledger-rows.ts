/** Rows that should not be, or not like that: each kind is a finding of its own. */
import type { Checker } from './checker.ts';
import { incomplete } from './findings.ts';
import { plural } from '../../core/index.ts';
import { opChecker } from './op-checker.ts';
import { opName } from './op-sample.ts';

const rowChecker = opChecker('operation', ({ reconciliation }) => reconciliation);

const phantoms = rowChecker({
  name: 'ledger-phantom',
  code: 'LEDGER_PHANTOM',
  of: ({ phantoms }) => phantoms,
  safety: 'corrupt',
  what: 'in the ledger that no client ever sent',
});

/** Beside a gap of a journal nobody can say whether a row was sent: no damage, and no evidence. */
const sent: Checker = {
  name: phantoms.name,
  check(audited) {
    const { count, ops } = audited.reconciliation.unjournaled;
    if (count === 0) return phantoms.check(audited);
    const what = `${plural(count, 'operation')} in the ledger that the journals, which have gaps, do not tell of`;
    const gap = incomplete(
      'LEDGER_UNJOURNALED',
      `${audited.image} image: ${what}`,
      ops.map(opName),
    );
    return [gap, ...phantoms.check(audited)];
  },
};

export const rowCheckers: readonly Checker[] = [
  sent,
  rowChecker({
    name: 'ledger-failed-present',
    code: 'LEDGER_FAILED_PRESENT',
    of: ({ failedPresent }) => failedPresent,
    safety: 'corrupt',
    what: 'in the ledger that the server had refused',
  }),
  rowChecker({
    name: 'ledger-duplicated',
    code: 'LEDGER_DUPLICATED',
    of: ({ duplicates }) => duplicates,
    safety: 'corrupt',
    what: 'more than once in the ledger',
  }),
  rowChecker({
    name: 'ledger-torn',
    code: 'LEDGER_TORN',
    of: ({ torn }) => torn,
    safety: 'corrupt',
    what: 'with another content than was sent',
  }),
  rowChecker({
    name: 'ledger-chain',
    code: 'LEDGER_CHAIN_BROKEN',
    of: ({ brokenLinks }) => brokenLinks,
    safety: 'corrupt',
    what: 'not linked to the one before it, which is there',
  }),
  rowChecker({
    name: 'ledger-order',
    code: 'LEDGER_OUT_OF_ORDER',
    of: ({ outOfOrder }) => outOfOrder,
    safety: 'corrupt',
    what: 'stored behind later ones of the same session',
  }),
  rowChecker({
    name: 'ledger-resurrected',
    code: 'LEDGER_RESURRECTED',
    of: ({ resurrected }) => resurrected,
    safety: 'lost',
    what: 'back that were gone in the image before',
  }),
];
