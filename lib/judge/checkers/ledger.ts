/** The ledger of a copy against the journal: losses, rows, unreadable ones, commits that were seen. */
import { plural } from '../../core/index.ts';
import { type ImageLabel, initialBalance, sessionKey } from '../../history/index.ts';
import {
  type AuditedImage,
  type Checker,
  damage,
  lacking,
  silentDamage,
  loudDamage,
  when,
} from './checker.ts';
import { disputedRows } from './contradictions.ts';
import { epochs } from './journal.ts';
import {
  type DocumentReconciliation,
  type LostOp,
  type LostRange,
  type OpSample,
  type Reconciliation,
  type SeenCommit,
  opName,
} from './reconcile.ts';
import { unreadBecause } from './server.ts';
import type { JudgedDatabase } from '../database.ts';

/** A finding's code, which operations, what is wrong with them; what that is called, default `corrupt`. */
type OpFault<Kind extends string> = readonly [
  code: string,
  of: Kind,
  what: string,
  safety?: 'lost' | 'corrupt',
];

/** `thing` is counted; `whereIn`: undefined of an image that has none of them. */
const opChecker =
  <Kind extends string>(
    thing: string,
    whereIn: (audited: AuditedImage) => Readonly<Record<Kind, OpSample>> | undefined,
  ) =>
  ([code, of, what, safety = 'corrupt']: OpFault<Kind>): Checker => ({
    name: code.toLowerCase().replaceAll('_', '-'),
    check(audited) {
      const found = whereIn(audited)?.[of];
      if (found === undefined || found.count === 0) return [];
      const summary = `${plural(found.count, thing)} ${what}`;
      const about = { code, image: audited.image, safety, loud: false };
      return [damage({ ...about, summary, evidence: found.ops.map(opName) })];
    },
  });

export interface LostCommit extends LostOp {
  /** The copy of the volume that lacks it. */
  readonly image: ImageLabel;
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

type RowFault = OpFault<
  | 'phantoms'
  | 'failedPresent'
  | 'duplicates'
  | 'torn'
  | 'brokenLinks'
  | 'outOfOrder'
  | 'resurrected'
>;
const rowFaults: readonly RowFault[] = [
  ['LEDGER_PHANTOM', 'phantoms', 'in the ledger that no client ever sent'],
  ['LEDGER_FAILED_PRESENT', 'failedPresent', 'in the ledger that the server had refused'],
  ['LEDGER_DUPLICATED', 'duplicates', 'more than once in the ledger'],
  ['LEDGER_TORN', 'torn', 'with another content than was sent'],
  ['LEDGER_CHAIN_BROKEN', 'brokenLinks', 'not linked to the one before it, which is there'],
  ['LEDGER_OUT_OF_ORDER', 'outOfOrder', 'stored behind later ones of the same session'],
  ['LEDGER_RESURRECTED', 'resurrected', 'back that were gone in the image before', 'lost'],
];

/** Beside a gap of a journal nobody can say whether a row was sent: no damage, and no evidence. */
const unjournaled: Checker = {
  name: 'ledger-unjournaled',
  check({ image, reconciliation: { unjournaled } }) {
    const { count, ops } = unjournaled;
    const summary = `${plural(count, 'operation')} in the ledger that the journals, which have gaps, do not tell of`;
    return lacking(image, 'LEDGER_UNJOURNALED', summary, ops.map(opName));
  },
};

const undisputed = ({ reconciliation, disputes = () => false }: AuditedImage) => ({
  ...reconciliation,
  phantoms: reconciliation.phantoms.without(disputes),
  torn: reconciliation.torn.without(disputes),
  brokenLinks: reconciliation.brokenLinks.without(disputes),
});

export const rowCheckers: readonly Checker[] = [
  unjournaled,
  ...rowFaults.map(opChecker<RowFault[1]>('operation', undisputed)),
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
    const said = [`${evidence.ledgerRows} rows read`, ...when(why !== undefined, why)];
    return loudDamage(image, 'LEDGER_UNREADABLE', summary, said);
  },
});

// Every balance is what the ledger's transfers made it: both were written in one transaction.

export const balances: Checker = {
  name: 'balances',
  check(audited) {
    const { image, evidence, reconciliation, before } = audited;
    // Rows that are refuted moved nothing that is known.
    if (disputedRows(audited).length > 0) return [];
    const found = evidence.balances;
    if (reconciliation.unread !== undefined || Object.keys(found).length === 0) return [];
    const { movements } = reconciliation;
    const accounts = new Set([
      ...Object.keys(found).map(Number),
      ...Object.keys(before?.evidence.balances ?? {}).map(Number),
      ...movements.keys(),
    ]);
    const wrong = [...accounts].flatMap((account) => {
      const expected = initialBalance + (movements.get(account) ?? 0);
      const balance = found[account];
      const both = `account ${account}: ${balance ?? 'no row'}, the ledger says ${expected}`;
      return when(balance !== expected, both);
    });
    const summary = `${plural(wrong.length, 'balance')} not what the ledger's transfers make it`;
    return silentDamage(image, 'BALANCE_WRONG', summary, wrong);
  },
};

// Documents that should not be, are gone, or have other bytes: each kind is a finding of its own.

const noDocuments: Pick<DocumentReconciliation, 'torn'> = { torn: [] };

const torn: Checker = {
  name: 'document-torn',
  check({ image, documents: { torn } = noDocuments }) {
    const summary = `${plural(torn.length, 'document')} with other bytes than were written`;
    const evidence = torn.map(({ document, how }) => `${opName(document)}: ${how}`);
    return silentDamage(image, 'DOCUMENT_TORN', summary, evidence);
  },
};

type DocumentFault = OpFault<'missing' | 'half' | 'undeleted' | 'phantoms'>;
const documentFaults: readonly DocumentFault[] = [
  ['DOCUMENT_MISSING', 'missing', 'gone, and the rest of their transactions is there'],
  ['DELETE_HALF', 'half', 'still there, and the rest of the transactions that deleted them too'],
  ['DELETE_UNDONE', 'undeleted', 'back whose deletion was acknowledged', 'lost'],
  ['DOCUMENT_PHANTOM', 'phantoms', 'without the rest of their transactions, or that nobody sent'],
];

export const documentCheckers: readonly Checker[] = [
  torn,
  ...documentFaults.map(opChecker<DocumentFault[1]>('document', ({ documents }) => documents)),
];

// A disk formatted anew or a data directory initialised anew: empty databases that are Ready.

export const replaced: Checker = {
  name: 'replaced',
  check({ image, evidence, before }) {
    const { filesystemUuid, serverUuid, dataDirectoryEmpty } = evidence;
    const was = before?.evidence;
    const change = (what: string, old: string | undefined, now: string | undefined) =>
      when(old !== undefined && now !== undefined && old !== now, `${what} ${old} became ${now}`);
    const formatted = change('file system', was?.filesystemUuid, filesystemUuid);
    const initialised = change('server_uuid', was?.serverUuid, serverUuid);
    const empty = 'the data directory is empty: the next start makes an empty database';
    return [
      ...silentDamage(image, 'REFORMATTED', 'the volume was formatted anew', formatted),
      ...silentDamage(image, 'REINITIALISED', 'the database was initialised anew', initialised),
      ...silentDamage(
        image,
        'DATA_DIRECTORY_EMPTY',
        empty,
        when(dataDirectoryEmpty, 'no file but what mkfs makes'),
      ),
    ];
  },
};
