/** Rows and documents that should not be, are gone, or are not like that: each kind is a finding of its own. */
import type { Checker, AuditedImage } from './checker.ts';
import { incomplete, damage } from './findings.ts';
import { plural } from '../counts.ts';
import { opName, type OpSample } from './op-sample.ts';

/**
 * `thing` is counted; `whereIn`: undefined of an image that has none of them. Then of each kind: its
 * code, its sample, and what is wrong with them, after their number.
 */
const opChecker =
  <Key extends string>(
    thing: string,
    whereIn: (audited: AuditedImage) => Readonly<Record<Key, OpSample>> | undefined,
  ) =>
  (code: string, of: Key, what: string, safety: 'lost' | 'corrupt' = 'corrupt'): Checker => ({
    name: code.toLowerCase().replaceAll('_', '-'),
    check(audited) {
      const { count = 0, ops = [] } = whereIn(audited)?.[of] ?? {};
      if (count === 0) return [];
      const summary = `${plural(count, thing)} ${what}`;
      const evidence = ops.map(opName);
      return [damage({ code, image: audited.image, safety, loud: false, summary, evidence })];
    },
  });

type RowKind =
  | ('phantoms' | 'failedPresent' | 'duplicates' | 'torn')
  | ('brokenLinks' | 'outOfOrder' | 'resurrected');
const ofRows = opChecker<RowKind>('operation', ({ reconciliation }) => reconciliation);

const phantoms = ofRows('LEDGER_PHANTOM', 'phantoms', 'in the ledger that no client ever sent');

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
  ofRows('LEDGER_FAILED_PRESENT', 'failedPresent', 'in the ledger that the server had refused'),
  ofRows('LEDGER_DUPLICATED', 'duplicates', 'more than once in the ledger'),
  ofRows('LEDGER_TORN', 'torn', 'with another content than was sent'),
  ofRows('LEDGER_CHAIN_BROKEN', 'brokenLinks', 'not linked to the one before it, which is there'),
  ofRows('LEDGER_OUT_OF_ORDER', 'outOfOrder', 'stored behind later ones of the same session'),
  ofRows('LEDGER_RESURRECTED', 'resurrected', 'back that were gone in the image before', 'lost'),
];

type DocumentKind = 'missing' | 'half' | 'undeleted' | 'phantoms';
const ofDocuments = opChecker<DocumentKind>('document', ({ documents }) => documents);

const torn: Checker = {
  name: 'document-torn',
  check({ image, documents }) {
    const torn = documents?.torn ?? [];
    if (torn.length === 0) return [];
    const summary = `${plural(torn.length, 'document')} with other bytes than were written`;
    const evidence = torn.map(({ document, how }) => `${opName(document)}: ${how}`);
    const code = 'DOCUMENT_TORN';
    return [damage({ code, image, safety: 'corrupt', loud: false, summary, evidence })];
  },
};

export const documentCheckers: readonly Checker[] = [
  torn,
  ofDocuments('DOCUMENT_MISSING', 'missing', 'gone, and the rest of their transactions is there'),
  ofDocuments(
    'DELETE_HALF',
    'half',
    'still there, and the rest of the transactions that deleted them is there too',
  ),
  ofDocuments('DELETE_UNDONE', 'undeleted', 'back whose deletion was acknowledged', 'lost'),
  ofDocuments(
    'DOCUMENT_PHANTOM',
    'phantoms',
    'without the rest of their transactions, or that no client ever sent',
  ),
];
