/** Documents that should not be, are gone, or have other bytes: each kind is a finding of its own. */
import type { Checker } from './checker.ts';
import { damage, corruptInSilence } from './findings.ts';
import { plural } from '../../core/index.ts';
import { opChecker } from './op-checker.ts';
import { opName } from './op-sample.ts';

const documentChecker = opChecker('document', ({ documents }) => documents);

const torn: Checker = {
  name: 'document-torn',
  check({ image, documents }) {
    const torn = documents?.torn ?? [];
    if (torn.length === 0) return [];
    const summary = `${plural(torn.length, 'document')} with other bytes than were written`;
    const evidence = torn.map(({ document, how }) => `${opName(document)}: ${how}`);
    const code = 'DOCUMENT_TORN';
    return [damage({ code, ...corruptInSilence, image, summary, evidence })];
  },
};

export const documentCheckers: readonly Checker[] = [
  torn,
  documentChecker({
    name: 'document-missing',
    code: 'DOCUMENT_MISSING',
    of: ({ missing }) => missing,
    safety: 'corrupt',
    what: 'gone, and the rest of their transactions is there',
  }),
  documentChecker({
    name: 'delete-half',
    code: 'DELETE_HALF',
    of: ({ half }) => half,
    safety: 'corrupt',
    what: 'still there, and the rest of the transactions that deleted them is there too',
  }),
  documentChecker({
    name: 'delete-undone',
    code: 'DELETE_UNDONE',
    of: ({ undeleted }) => undeleted,
    safety: 'lost',
    what: 'back whose deletion was acknowledged',
  }),
  documentChecker({
    name: 'document-phantom',
    code: 'DOCUMENT_PHANTOM',
    of: ({ phantoms }) => phantoms,
    safety: 'corrupt',
    what: 'without the rest of their transactions, or that no client ever sent',
  }),
];
