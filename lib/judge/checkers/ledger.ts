/** The ledger of a copy against the journal: losses, rows, unreadable ones, commits that were seen. */
import { plural } from '../../core/index.ts';
import {
  type ImageLabel,
  type OpContent,
  type OpId,
  initialBalance,
  sessionContents,
  sessionKey,
} from '../../history/index.ts';
import {
  type AuditedImage,
  type Checker,
  corruptAndTold,
  corruptInSilence,
  damage,
  incomplete,
} from './checker.ts';
import { type Epoch, epochs } from './journal.ts';
import {
  type LostRange,
  type OnLost,
  type OpSample,
  type Reconciliation,
  type SeenCommit,
  opName,
} from './reconcile.ts';
import { unreadBecause } from './server.ts';
import type { JudgedDatabase } from '../database.ts';
import type { Finding } from '../verdict/verdict.ts';

interface OpFault<Where> {
  readonly name: string;
  readonly code: string;
  readonly of: (where: Where) => OpSample;
  readonly safety: 'lost' | 'corrupt';
  /** What is wrong with them, after their number. */
  readonly what: string;
}

/** `thing` is counted; `whereIn`: undefined of an image that has none of them. */
export const opChecker =
  <Where>(thing: string, whereIn: (audited: AuditedImage) => Where | undefined) =>
  ({ name, code, of, safety, what }: OpFault<Where>): Checker => ({
    name,
    check(audited) {
      const where = whereIn(audited);
      if (where === undefined) return [];
      const { count, ops } = of(where);
      if (count === 0) return [];
      const summary = `${plural(count, thing)} ${what}`;
      const evidence = ops.map(opName);
      return [damage({ code, image: audited.image, safety, loud: false, summary, evidence })];
    },
  });

// Each lost commit by name: what it was, who acknowledged it, and when.

export interface LostCommit extends OpId, OpContent {
  /** The copy of the volume that lacks it. */
  readonly image: ImageLabel;
  /** ms on the run's clock. */
  readonly ackedAtMs: number;
  /** Node of the server that acknowledged it; absent where the session's record is missing. */
  readonly node?: string;
  readonly epoch: Epoch;
}

/** Session by session, in order of seq. */
export function naming(
  image: ImageLabel,
  seed: string,
  onLost: (commit: LostCommit) => void,
): OnLost {
  let session: { readonly of: object; readonly sent: (seq: number) => OpContent } | undefined;
  return (log, seq, epoch) => {
    if (session?.of !== log) session = { of: log, sent: sessionContents(seed, log.id) };
    const { node } = log;
    const by = node === undefined ? {} : { node };
    const ackedAtMs = log.ackedAtMs(seq);
    onLost({ image, ...log.id, seq, ...session.sent(seq), ackedAtMs, ...by, epoch });
  };
}

// Commits that are gone: acknowledged ones, which only the journal outside the cluster can see, and those
// that nobody acknowledged and that an earlier image or a reader saw.

export const ledgerLost: Checker = {
  name: 'ledger-lost',
  check({ image, reconciliation, before }) {
    const { unread, lost, seenLost, lostRanges } = reconciliation;
    // Of an unreadable ledger that finding says how many could not be read.
    if (unread !== undefined || lost + seenLost.length === 0) return [];
    const gone = [acknowledged(reconciliation, before), seen(reconciliation)];
    const summary = gone.filter(Boolean).join('; ');
    const evidence = [...byEpoch(reconciliation), ...lostRanges.map(describe), ...seenLost.map(by)];
    return [damage({ code: 'LEDGER_LOST', safety: 'lost', loud: false, image, summary, evidence })];
  },
};

function acknowledged(reconciliation: Reconciliation, before: AuditedImage | undefined): string {
  const { acked, lost, lostSince } = reconciliation;
  if (lost === 0) return '';
  const since = before === undefined || lostSince === 0 ? '' : sinceThen(lostSince, before);
  return `${lost} of ${acked} acknowledged commits are gone: ${shape(reconciliation)}${since}`;
}

const seen = ({ seenLost: { length } }: Reconciliation): string =>
  length === 0 ? '' : `${plural(length, 'commit')} gone that nobody acknowledged and somebody saw`;

const by = (commit: SeenCommit): string =>
  `${opName(commit)}: seen by ${commit.by} at ${(commit.atMs / 1000).toFixed(3)} s`;

const sinceThen = (lostSince: number, before: AuditedImage): string =>
  `; ${lostSince} of them were in the ${before.image} image`;

const shape = ({ lostAreTails, lostRanges }: Reconciliation): string =>
  lostAreTails
    ? `the last ones of ${plural(lostRanges.length, 'session')}`
    : `${plural(lostRanges.length, 'range')}, with later commits of the same sessions present`;

const byEpoch = ({ byEpoch }: Reconciliation): string[] =>
  epochs
    .filter((epoch) => byEpoch[epoch].lost > 0)
    .map((epoch) => `${epoch}: ${byEpoch[epoch].lost} of ${byEpoch[epoch].acked} lost`);

function describe(range: LostRange): string {
  const { fromSeq, toSeq, count, epoch } = range;
  const seconds = (ms: number): string => (ms / 1000).toFixed(3);
  return (
    `${sessionKey(range)}: seq ${fromSeq} to ${toSeq}, ${count} acknowledged` +
    ` at ${seconds(range.firstAckMs)} to ${seconds(range.lastAckMs)} s (${epoch})`
  );
}

// Rows that should not be, or not like that: each kind is a finding of its own.

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

// The ledger could not be read to its end because the image is damaged.

export const ledgerUnreadable = ({ log }: Pick<JudgedDatabase, 'log'>): Checker => ({
  name: 'ledger-unreadable',
  byTool: true,
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

// Every balance is what the ledger's transfers made it: both were written in one transaction.

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

// Documents that should not be, are gone, or have other bytes: each kind is a finding of its own.

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

// A disk formatted anew or a data directory initialised anew: empty databases that are Ready.

export const replaced: Checker = {
  name: 'replaced',
  check({ image, evidence, before }) {
    const replaced = (code: string, summary: string, evidence: string): Finding =>
      damage({ code, image, safety: 'corrupt', loud: false, summary, evidence: [evidence] });
    const changed = (was: string | undefined, is: string | undefined): boolean =>
      was !== undefined && is !== undefined && was !== is;
    const findings: Finding[] = [];
    const { filesystemUuid, serverUuid } = evidence;
    const was = before?.evidence;
    if (changed(was?.filesystemUuid, filesystemUuid)) {
      const uuids = `file system ${was?.filesystemUuid} became ${filesystemUuid}`;
      findings.push(replaced('REFORMATTED', 'the volume was formatted anew', uuids));
    }
    if (changed(was?.serverUuid, serverUuid)) {
      const uuids = `server_uuid ${was?.serverUuid} became ${serverUuid}`;
      findings.push(replaced('REINITIALISED', 'the database was initialised anew', uuids));
    }
    if (evidence.dataDirectoryEmpty) {
      const summary = 'the data directory is empty: the next start makes an empty database';
      findings.push(replaced('DATA_DIRECTORY_EMPTY', summary, 'no file but what mkfs makes'));
    }
    return findings;
  },
};
