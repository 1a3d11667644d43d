/** What the file system, the server and its log say of a copy. */
import { type CommandEvidence, plural } from '../../core/index.ts';
import type { ImageEvidence, ServerStart, Unread } from '../../history/index.ts';
import {
  type AuditedImage,
  type Checker,
  corruptAndTold,
  corruptInSilence,
  damage,
  incomplete,
  note,
} from './checker.ts';
import { disputedRows } from './contradictions.ts';
import { opName } from './reconcile.ts';
import { answerOf, answerOfStart, answerOfMount, isServing } from './exit-kinds.ts';
import type { JudgedDatabase, OwnAsked, ServerLog } from '../database.ts';
import type { Finding } from '../verdict/verdict.ts';

// Why a ledger could not be read to its end: because it is damaged, or because the audit failed.

/**
 * Undefined when every row was read. `rows`: how many of those that the audit read are at hand; a
 * history that was cut has fewer. Default: all.
 */
export function unreadBecause(
  evidence: ImageEvidence,
  log: ServerLog,
  rows: number = evidence.ledgerRows,
): Unread | undefined {
  const { ledgerComplete, dataDirectoryEmpty, starts } = evidence;
  if (rows !== evidence.ledgerRows) return 'gap';
  if (ledgerComplete) return undefined;
  const damaged =
    answerOfMount(evidence) === 'damage' ||
    dataDirectoryEmpty ||
    starts.some((start) => answerOfStart(start, evidence, log) === 'damage') ||
    (evidence.sqlFailures ?? []).some(
      ({ what, error }) => what === 'ledger' && log.refusals.test(error),
    );
  return damaged ? 'damage' : 'gap';
}

// The file system: what fsck found, and whether it can be mounted.

/** Each line of a tool's answer once: fsck repeats itself block by block. */
const told = ({ command, exitCode, output }: CommandEvidence): string =>
  `${command} ended with ${exitCode}: ${[...new Set(output.split('\n'))].join('\n')}`;

export const fileSystem: Checker = {
  name: 'file-system',
  byTool: true,
  check({ image, evidence }) {
    const { fsckReplay, fsck } = evidence;
    const findings: Finding[] = [];
    const runs = [fsckReplay, fsck].filter((run) => run !== undefined);
    const { damage: bad = [], none = [] } = Object.groupBy(runs, (run) => answerOf(run, []));
    if (bad.length > 0) {
      const about = { code: 'FSCK_ERRORS', summary: 'the file system has errors' };
      findings.push(damage({ ...about, ...corruptAndTold, image, evidence: bad.map(told) }));
    }
    if (none.length > 0) {
      const summary = `${image} image: fsck could not do its work`;
      findings.push(incomplete('FSCK_FAILED', summary, none.map(told)));
    }
    if (answerOfMount(evidence) === 'damage') {
      const said = [evidence.mountError ?? ''];
      const about = { code: 'FILE_SYSTEM_UNMOUNTABLE', ...corruptAndTold, evidence: said };
      findings.push(damage({ ...about, image, summary: 'the file system cannot be mounted' }));
    }
    return findings;
  },
};

// Reading a table by its primary key and by a secondary index must give the same rows.

export const indexes: Checker = {
  name: 'indexes',
  check: ({ image, evidence }) =>
    evidence.indexCounts
      .filter(
        ({ byPrimary, byIndex, valuesAgree }) => byPrimary !== byIndex || valuesAgree === false,
      )
      .map(({ table, index, byPrimary, byIndex }) => {
        const counts = `${byPrimary} rows by primary key, ${byIndex} by ${index}`;
        const evidence = [byPrimary === byIndex ? `${counts}, with other values` : counts];
        const summary = `index ${index} of ${table} disagrees with the table`;
        return damage({ code: 'INDEX_OUT_OF_STEP', ...corruptInSilence, image, summary, evidence });
      }),
};

// An application can log in to the server, do its work, and no more than it was granted.

const isRefusal = (refused: string, { logins, refusals }: ServerLog): boolean =>
  logins.test(refused) || refusals.test(refused);

export const login = ({ log }: Pick<JudgedDatabase, 'log'>): Checker => ({
  name: 'login',
  byTool: true,
  check({ image, evidence: { login } }) {
    const { refused, unlimited } = login ?? {};
    if (refused !== undefined && isRefusal(refused, log)) {
      const summary = 'an ordinary client is not let in, or not to what it was granted';
      const about = { code: 'LOGIN_REFUSED', ...corruptAndTold, image };
      return [damage({ ...about, summary, evidence: [refused] })];
    }
    if (unlimited !== undefined) {
      const summary = 'an ordinary client may do what nobody granted it';
      const about = { code: 'LOGIN_UNLIMITED', ...corruptInSilence, image };
      return [damage({ ...about, summary, evidence: [unlimited] })];
    }
    return [];
  },
});

// The one change of the schema: done or not, as its client was told, and never by halves.

const never = Number.POSITIVE_INFINITY;

export const schemaChange: Checker = {
  name: 'schema-change',
  check({ image, evidence: { schema }, schemaChanges = [], takenAtMs }): Finding[] {
    if (schema === undefined) return [];
    const { state, oddities } = schema;
    const { t: sentAtMs = never } = schemaChanges.find(({ step }) => step === 'sent') ?? {};
    const ended = schemaChanges.find(({ step }) => step === 'ended');
    const ackedAtMs = ended?.outcome === 'ok' ? ended.t : never;
    const isRefused = ended?.outcome === 'fail';
    const about = { image, loud: false } as const;
    if (state === 'other') {
      const summary =
        'tables are neither as they were made nor as the change of the schema has them';
      const code = 'SCHEMA_HALF_CHANGED';
      return [damage({ ...about, code, safety: 'corrupt', summary, evidence: oddities })];
    }
    if (state === 'original' && ackedAtMs <= takenAtMs) {
      const summary = 'the change of the schema was acknowledged and is gone';
      const evidence = [`acknowledged at ${(ackedAtMs / 1000).toFixed(3)} s`];
      return [damage({ ...about, code: 'SCHEMA_CHANGE_LOST', safety: 'lost', summary, evidence })];
    }
    if (state === 'changed' && isRefused) {
      const summary = 'the schema is changed, which the server had refused';
      const code = 'SCHEMA_CHANGE_REFUSED';
      return [damage({ ...about, code, safety: 'corrupt', summary, evidence: [] })];
    }
    if (state === 'changed' && !(sentAtMs <= takenAtMs)) {
      // Nobody else makes just this change: so it is the journal, or the image's time, that is wrong.
      const summary = `${image} image: the schema is changed, and no journal tells of it by then`;
      return [incomplete('SCHEMA_CHANGE_UNJOURNALED', summary, [])];
    }
    return [];
  },
};

// Statements that a living server refused to answer: an application would have met the same.

export const sqlFailures = ({ server, log }: Pick<JudgedDatabase, 'server' | 'log'>): Checker => ({
  name: 'sql-failures',
  byTool: true,
  check: ({ image, evidence }) =>
    (evidence.sqlFailures ?? [])
      .filter(({ error }) => log.refusals.test(error))
      .map(({ what, error }) => {
        const summary = `${server} cannot answer: ${what}`;
        const about = { code: 'SQL_REFUSED', ...corruptAndTold, image };
        return damage({ ...about, summary, evidence: [error] });
      }),
});

// Every part of the audit is there, or the image's damage, or the machine's trouble, says why not.

export const completenessName = 'completeness';

export const completeness = (database: JudgedDatabase): Checker => ({
  name: completenessName,
  check(audited) {
    const { image, evidence, reconciliation, ...about } = audited;
    const { rows } = reconciliation;
    const { wholeWorkload = false, settings = database.leastAsked, all = [], refuted = [] } = about;
    const others = all.filter((each) => each.image !== image).map((each) => each.evidence);
    const asked = { wholeWorkload, settings, others };
    const missing = missingParts(database, evidence, rows, asked);
    const gaps = [...evidence.failures, ...missing];
    const disputed = disputedRows(audited).map(
      (op) => `${database.server}'s own log has ${opName(op)} as the table has it`,
    );
    const lists: readonly (readonly [string, string, readonly string[]])[] = [
      [
        'AUDIT_MACHINE_TROUBLE',
        'tools of its audit could not look',
        troublesOf(database, evidence),
      ],
      ['AUDIT_CONTRADICTS', 'answers of the audit refute each other', [...refuted, ...disputed]],
      ['AUDIT_INCOMPLETE', 'parts of the audit are missing', gaps],
    ];
    return lists.flatMap(([code, what, list]) => {
      const summary = `${image} image: ${what}: ${list.join('; ').slice(0, 300)}`;
      return list.length === 0 ? [] : [incomplete(code, summary, list)];
    });
  },
});

function missingParts(
  { own, log }: JudgedDatabase,
  evidence: ImageEvidence,
  rows: number,
  asked: OwnAsked,
): string[] {
  if (rows !== evidence.ledgerRows) {
    return [`the audit read ${evidence.ledgerRows} rows, and ${rows} are at hand`];
  }
  const unread = unreadBecause(evidence, log);
  if (unread === 'gap') return ['the ledger was not read to its end'];
  const { starts, sqlFailures = [] } = evidence;
  const served = starts.every(isServing);
  // A server that died or refused answers took the other parts with it: that is in its findings.
  if (unread === 'damage' || !served || sqlFailures.length > 0) return [];
  const { fsck, isDirectory = false, balances, documents, schema, login } = evidence;
  const began = (purpose: string): boolean => starts.some((start) => start.purpose === purpose);
  const needed: readonly (readonly [string, boolean])[] = [
    ['fsck', fsck !== undefined || isDirectory],
    ['balances', Object.keys(balances).length > 0],
    ...['recovery', 'cold', 'check'].map(
      (purpose) => [`start of the server for ${purpose}`, began(purpose)] as const,
    ),
    ['documents', documents !== undefined || !asked.wholeWorkload],
    ['look at the schema', schema !== undefined || !asked.wholeWorkload],
    ['login of an ordinary client', login !== undefined || !asked.wholeWorkload],
  ];
  const missing = needed.filter(([, isThere]) => !isThere).map(([part]) => `no ${part}`);
  return [...missing, ...own.gaps(evidence, asked)];
}

/** Tools that gave no answer, and what they said instead. */
function troublesOf({ own, log, server }: JudgedDatabase, evidence: ImageEvidence): string[] {
  const { mountError = '', starts, sqlFailures = [], login } = evidence;
  const told: string[] = [];
  const tell = (what: string, said: string): void => void told.push(`${what}: ${said}`);
  if (answerOfMount(evidence) === 'none') tell('mount', mountError);
  for (const start of starts) {
    const { purpose, died, errorLines } = start;
    if (died === undefined || answerOfStart(start, evidence, log) !== 'none') continue;
    tell(`${server} for ${purpose}`, [`ended with ${died}`, ...errorLines].join('; '));
  }
  for (const { what, error } of sqlFailures) if (!log.refusals.test(error)) tell(what, error);
  const refused = login?.refused;
  if (refused !== undefined && !isRefusal(refused, log)) tell('login', refused);
  for (const { what, said } of own.unanswered(evidence)) tell(what, said);
  return told;
}

// Whether the server starts on the copy and lives, and what its error log says.

const occasion = (purpose: ServerStart['purpose'], { tools }: JudgedDatabase): string =>
  ({ recovery: 'for crash recovery', cold: 'after a kill -9', check: `for ${tools.checkTable}` })[
    purpose
  ];

export const serverStarts = (database: JudgedDatabase): Checker => ({
  name: 'server-starts',
  byTool: true,
  check: (audited) =>
    audited.evidence.starts.flatMap((start) => judgeStart(database, audited, start)),
});

function judgeStart(
  database: JudgedDatabase,
  { image, evidence }: AuditedImage,
  start: ServerStart,
): Finding[] {
  const { purpose, ready, died, durationMs, errorLines } = start;
  const { server, tools, log } = database;
  const answer = answerOfStart(start, evidence, log);
  if (answer === 'sound') return [];
  const when = `started ${occasion(purpose, database)}`;
  const how = died === undefined ? `not ready after ${durationMs} ms` : `ended with ${died}`;
  if (answer === 'none') {
    // One that ended for no reason of the volume's is listed with the tools that gave no answer.
    if (died !== undefined) return [];
    return [incomplete('SERVER_HUNG', `${image} image: ${server} ${when} did not serve`, [how])];
  }
  const about = { image, ...corruptAndTold, evidence: [how, ...errorLines] };
  if (!ready) {
    return [damage({ code: 'SERVER_CANNOT_START', summary: `${server} ${when} fails`, ...about })];
  }
  if (purpose === 'check') {
    const summary = `${tools.checkTable} crashes ${server}`;
    return [damage({ code: 'CHECK_TABLE_CRASHED', summary, ...about })];
  }
  const summary = `${server} ${when} died while it was read`;
  return [damage({ code: 'SERVER_DIED', summary, ...about })];
}

const mendedLines = (start: ServerStart, log: ServerLog): string[] =>
  start.purpose === 'recovery' && isServing(start)
    ? start.errorLines.filter((line) => log.mended.test(line))
    : [];

export const errorLog = ({ server, log }: Pick<JudgedDatabase, 'server' | 'log'>): Checker => ({
  name: 'error-log',
  byTool: true,
  check({ image, evidence }) {
    const mended = evidence.starts.flatMap((start) => mendedLines(start, log));
    const said = new Set(evidence.starts.flatMap(({ errorLines }) => errorLines));
    const lines = [...said].filter((line) => !mended.includes(line));
    const served = new Set(evidence.starts.filter(isServing).flatMap((each) => each.errorLines));
    // What the storage says beside damage comes of it; without any, a server that serves has no reason to.
    const isDamaged = lines.some((line) => log.damage.test(line));
    const {
      bad = [],
      unexplained = [],
      other = [],
    } = Object.groupBy(lines, (line) => {
      if (!log.damage.test(line) && !log.ofStorage.test(line)) return 'other';
      if (isDamaged) return 'bad';
      return served.has(line) ? 'unexplained' : 'other';
    });
    const findings: Finding[] = [];
    if (mended.length > 0) {
      const summary = `${image} image: crash recovery mended a torn first page`;
      findings.push(note('TORN_PAGE_MENDED', summary, mended));
    }
    if (bad.length > 0) {
      const summary = `${server}'s error log tells of damage in ${plural(bad.length, 'line')}`;
      const code = 'ERROR_LOG_DAMAGE';
      findings.push(damage({ code, ...corruptAndTold, image, summary, evidence: bad }));
    }
    if (unexplained.length > 0) {
      const summary = `${image} image: ${server}'s storage reports errors that no check explains`;
      findings.push(incomplete('ERROR_LOG_UNEXPLAINED', summary, unexplained));
    }
    if (other.length > 0) {
      const summary = `${image} image: ${server}'s error log has ${plural(other.length, 'other error')}`;
      findings.push(note('ERROR_LOG_OTHER', summary, other));
    }
    return findings;
  },
});
