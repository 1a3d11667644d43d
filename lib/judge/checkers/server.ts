/** What the file system, the server and its log say of a copy. */
import { type CommandEvidence, plural } from '../../core/index.ts';
import type { ImageEvidence, ServerStart, Unread } from '../../history/index.ts';
import {
  type AuditedImage,
  type Checker,
  damage,
  incomplete,
  lacking,
  noted,
  silentDamage,
  loudDamage,
  when,
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
const inWords = ({ command, exitCode, output }: CommandEvidence): string =>
  `${command} ended with ${exitCode}: ${[...new Set(output.split('\n'))].join('\n')}`;

export const fileSystem: Checker = {
  name: 'file-system',
  byTool: true,
  check({ image, evidence }) {
    const { fsckReplay, fsck, mountError } = evidence;
    const runs = [fsckReplay, fsck].filter((run) => run !== undefined);
    const { damage: bad = [], none = [] } = Object.groupBy(runs, (run) => answerOf(run, []));
    const refused = when(answerOfMount(evidence) === 'damage', mountError);
    return [
      ...loudDamage(image, 'FSCK_ERRORS', 'the file system has errors', bad.map(inWords)),
      ...lacking(image, 'FSCK_FAILED', 'fsck could not do its work', none.map(inWords)),
      ...loudDamage(image, 'FILE_SYSTEM_UNMOUNTABLE', 'the file system cannot be mounted', refused),
    ];
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
      .flatMap(({ table, index, byPrimary, byIndex }) => {
        const counts = `${byPrimary} rows by primary key, ${byIndex} by ${index}`;
        const evidence = [byPrimary === byIndex ? `${counts}, with other values` : counts];
        const summary = `index ${index} of ${table} disagrees with the table`;
        return silentDamage(image, 'INDEX_OUT_OF_STEP', summary, evidence);
      }),
};

// An application can log in to the server, do its work, and no more than it was granted.

const isRefusal = (refused: string, { logins, refusals }: ServerLog): boolean =>
  logins.test(refused) || refusals.test(refused);

export const login = ({ log }: Pick<JudgedDatabase, 'log'>): Checker => ({
  name: 'login',
  byTool: true,
  check({ image, evidence: { login: { refused, unlimited } = {} } }) {
    const isRefused = refused !== undefined && isRefusal(refused, log);
    const denied = 'an ordinary client is not let in, or not to what it was granted';
    const open = 'an ordinary client may do what nobody granted it';
    return [
      ...loudDamage(image, 'LOGIN_REFUSED', denied, when(isRefused, refused)),
      ...silentDamage(image, 'LOGIN_UNLIMITED', open, when(unlimited !== undefined, unlimited)),
    ];
  },
});

// The one change of the schema: done or not, as its client was told, and never by halves.

export const schemaChange: Checker = {
  name: 'schema-change',
  check({ image, evidence: { schema }, schemaChanges = [], takenAtMs }): readonly Finding[] {
    if (schema === undefined) return [];
    const { state, oddities } = schema;
    const isSent = schemaChanges.some(({ step, t }) => step === 'sent' && t <= takenAtMs);
    const ended = schemaChanges.find(({ step }) => step === 'ended');
    const about = { image, loud: false } as const;
    if (state === 'other') {
      const summary =
        'tables are neither as they were made nor as the change of the schema has them';
      const code = 'SCHEMA_HALF_CHANGED';
      return [damage({ ...about, code, safety: 'corrupt', summary, evidence: oddities })];
    }
    if (state === 'original') {
      if (ended?.outcome !== 'ok' || ended.t > takenAtMs) return [];
      const summary = 'the change of the schema was acknowledged and is gone';
      const evidence = [`acknowledged at ${(ended.t / 1000).toFixed(3)} s`];
      return [damage({ ...about, code: 'SCHEMA_CHANGE_LOST', safety: 'lost', summary, evidence })];
    }
    if (ended?.outcome === 'fail') {
      const summary = 'the schema is changed, which the server had refused';
      const code = 'SCHEMA_CHANGE_REFUSED';
      return [damage({ ...about, code, safety: 'corrupt', summary, evidence: [] })];
    }
    if (isSent) return [];
    // Nobody else makes just this change: so it is the journal, or the image's time, that is wrong.
    const summary = `${image} image: the schema is changed, and no journal tells of it by then`;
    return [incomplete('SCHEMA_CHANGE_UNJOURNALED', summary, [])];
  },
};

// Statements that a living server refused to answer: an application would have met the same.

export const sqlFailures = ({ server, log }: Pick<JudgedDatabase, 'server' | 'log'>): Checker => ({
  name: 'sql-failures',
  byTool: true,
  check: ({ image, evidence }) =>
    (evidence.sqlFailures ?? [])
      .filter(({ error }) => log.refusals.test(error))
      .flatMap(({ what, error }) =>
        loudDamage(image, 'SQL_REFUSED', `${server} cannot answer: ${what}`, [error]),
      ),
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
      return lacking(image, code, `${what}: ${list.join('; ').slice(0, 300)}`, list);
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
  const mount = answerOfMount(evidence) === 'none' ? [{ what: 'mount', said: mountError }] : [];
  const ended = starts
    .filter(({ died }) => died !== undefined)
    .filter((start) => answerOfStart(start, evidence, log) === 'none')
    .map(({ purpose, died, errorLines }) => ({
      ...{
        what: `${server} for ${purpose}`,
        said: [`ended with ${died}`, ...errorLines].join('; '),
      },
    }));
  const statements = sqlFailures
    .filter(({ error }) => !log.refusals.test(error))
    .map(({ what, error: said }) => ({ what, said }));
  const logins = [login?.refused ?? []]
    .flat()
    .filter((said) => !isRefusal(said, log))
    .map((said) => ({ what: 'login', said }));
  return [...mount, ...ended, ...statements, ...logins, ...own.unanswered(evidence)].map(
    ({ what, said }) => `${what}: ${said}`,
  );
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
): readonly Finding[] {
  const { purpose, ready, died, durationMs, errorLines } = start;
  const { server, tools, log } = database;
  const answer = answerOfStart(start, evidence, log);
  if (answer === 'sound') return [];
  const when = `started ${occasion(purpose, database)}`;
  const how = died === undefined ? `not ready after ${durationMs} ms` : `ended with ${died}`;
  if (answer === 'none') {
    // One that ended for no reason of the volume's is listed with the tools that gave no answer.
    if (died !== undefined) return [];
    return lacking(image, 'SERVER_HUNG', `${server} ${when} did not serve`, [how]);
  }
  const [code, summary] = !ready
    ? ['SERVER_CANNOT_START', `${server} ${when} fails`]
    : purpose === 'check'
      ? ['CHECK_TABLE_CRASHED', `${tools.checkTable} crashes ${server}`]
      : ['SERVER_DIED', `${server} ${when} died while it was read`];
  return loudDamage(image, code, summary, [how, ...errorLines]);
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
    return [
      ...noted(image, 'TORN_PAGE_MENDED', 'crash recovery mended a torn first page', mended),
      ...loudDamage(
        image,
        'ERROR_LOG_DAMAGE',
        `${server}'s error log tells of damage in ${plural(bad.length, 'line')}`,
        bad,
      ),
      ...lacking(
        image,
        'ERROR_LOG_UNEXPLAINED',
        `${server}'s storage reports errors that no check explains`,
        unexplained,
      ),
      ...noted(
        image,
        'ERROR_LOG_OTHER',
        `${server}'s error log has ${plural(other.length, 'other error')}`,
        other,
      ),
    ];
  },
});
