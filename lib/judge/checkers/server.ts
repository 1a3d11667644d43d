/** What the file system, the server and its log say of a copy. */
import { type CommandEvidence, plural } from '../../core/index.ts';
import type {
  ImageEvidence,
  SchemaChangeRecord,
  ServerStart,
  Unread,
} from '../../history/index.ts';
import {
  type Checker,
  type SchemaChange,
  corruptAndTold,
  corruptInSilence,
  damage,
  incomplete,
  note,
} from './checker.ts';
import type { JudgedDatabase, MachineTrouble, OwnAsked, ServerLog } from '../database.ts';
import type { Finding } from '../verdict/verdict.ts';

/** What any database's machine may lack. */
const machineTroubles: readonly MachineTrouble[] = [
  {
    name: 'no memory',
    pattern: /cannot allocate memory|\bENOMEM\b|errno:? 12\b|\bOS error:? 12\b|error number 12\b/i,
    source: 'strerror(12), in mount(8), e2fsck and servers',
  },
  {
    name: 'no memory for a statement',
    pattern: /\bout of (sort )?memory\b|memory allocation (error|failed)|\bstd::bad_alloc\b/i,
    source: 'servers’ own errors; e2fsck (EXT2_ET_NO_MEMORY)',
  },
  {
    name: 'no space',
    pattern: /no space left on device|\bENOSPC\b|errno:? 28\b|\bOS error:? 28\b|error number 28\b/i,
    source: 'strerror(28), in cp and servers',
  },
  {
    name: 'no file handles',
    pattern:
      /too many open files|\bE[MN]FILE\b|errno:? 2[34]\b|OS error:? 2[34]\b|error number 2[34]\b/i,
    source: 'strerror(23), strerror(24)',
  },
];

/** Whoever says this speaks of what is on the disk, whatever else it says. */
const saysDamage =
  /corrupt|structure needs cleaning|bad message|checksum mismatch|in the future|assertion failure/i;

/** What a database's log and tools say of the machine. */
type TroubleLog = Pick<ServerLog, 'troubles'>;

/** Its name; undefined where the text tells of none, or of damage. */
export function troubleIn(text: string, log: TroubleLog): string | undefined {
  if (saysDamage.test(text)) return undefined;
  return [...machineTroubles, ...log.troubles].find(({ pattern }) => pattern.test(text))?.name;
}

/** Words of a shell for a process that was ended with SIGKILL: most often for want of memory. */
const killed = ['exit code 137'];

/**
 * Why a start failed through no fault of the volume. A single line of the storage's own
 * that tells of anything else makes it the volume's fault.
 */
export function troubleOfStart(
  { ready, died, errorLines }: ServerStart,
  log: ServerLog,
): string | undefined {
  if (ready && died === undefined) return undefined;
  const telling = errorLines.filter((line) => !log.afterwords.some((each) => each.test(line)));
  const troubles = telling.map((line) => troubleIn(line, log));
  const accuses = (line: string): boolean => line.includes(log.ofStorage) || saysDamage.test(line);
  if (telling.some((line, n) => troubles[n] === undefined && accuses(line))) return undefined;
  return troubles.find((each) => each !== undefined) ?? killedBy(died);
}

const killedBy = (died: string | undefined): string | undefined =>
  died !== undefined && killed.includes(died) ? 'killed' : undefined;

// Why a ledger could not be read to its end: because it is damaged, or because the audit failed.

/** Signals that come from outside the server (out of memory, a person): no sign of damage. */
const foreignSignals = ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP'];

/** The server ended by itself at some time of its life. */
export const diedByItself = ({ died }: ServerStart): boolean =>
  died !== undefined && !foreignSignals.includes(died);

/** It was not ready, and said why or ended: not merely slow. */
export const refusedToStart = (start: ServerStart): boolean =>
  !start.ready && (diedByItself(start) || start.errorLines.length > 0);

/** It failed, and not for want of something on the machine. */
const accuses = (start: ServerStart, log: ServerLog): boolean =>
  (diedByItself(start) || refusedToStart(start)) && troubleOfStart(start, log) === undefined;

/**
 * Undefined when every row was read. `rows`: how many of those that the audit read are at hand; a
 * history that was cut has fewer. Default: all.
 */
export function unreadBecause(
  evidence: ImageEvidence,
  log: ServerLog,
  rows: number = evidence.ledgerRows,
): Unread | undefined {
  const { ledgerComplete, mounted, mountError, dataDirectoryEmpty, starts } = evidence;
  if (rows !== evidence.ledgerRows) return 'gap';
  if (ledgerComplete) return undefined;
  const damaged =
    (!mounted && mountError !== undefined && troubleIn(mountError, log) === undefined) ||
    dataDirectoryEmpty ||
    starts.some((start) => accuses(start, log)) ||
    (evidence.sqlFailures ?? []).some(
      ({ what, error }) => what === 'ledger' && troubleIn(error, log) === undefined,
    );
  return damaged ? 'damage' : 'gap';
}

// The file system: fsck by its exit code alone, and whether it can be mounted.

/** Exit codes of e2fsck(8), bits: 4 errors left uncorrected; from 8 on it could not do its work. */
const uncorrected = 4;
const unable = 8;
/** Exit code of xfs_repair(8) with -n: there is corruption. */
const xfsCorrupt = 1;

const foundErrors = ({ command, exitCode }: CommandEvidence): boolean =>
  command.startsWith('xfs_repair') ? exitCode === xfsCorrupt : (exitCode & uncorrected) !== 0;

/** Each line of a tool's answer once: fsck repeats itself block by block. */
const told = ({ command, exitCode, output }: CommandEvidence): string =>
  `${command} ended with ${exitCode}: ${[...new Set(output.split('\n'))].join('\n')}`;

export const fileSystem = ({ log }: Pick<JudgedDatabase, 'log'>): Checker => ({
  name: 'file-system',
  check({ image, evidence }) {
    const { fsckReplay, fsck, mounted, mountError: said } = evidence;
    // A mount that failed for want of memory says nothing of the disk.
    const mountError = said === undefined || troubleIn(said, log) !== undefined ? undefined : said;
    const findings: Finding[] = [];
    const runs = [fsckReplay, fsck].filter((run) => run !== undefined);
    // Where fsck could not even begin, the mount tells whether that was the disk's fault.
    const isBad = (run: CommandEvidence): boolean =>
      foundErrors(run) || (run.exitCode >= unable && mountError !== undefined);
    const bad = runs.filter(isBad);
    const failed = runs.filter((run) => run.exitCode >= unable && !isBad(run));
    if (bad.length > 0) {
      const about = { code: 'FSCK_ERRORS', summary: 'the file system has errors' };
      findings.push(damage({ ...about, ...corruptAndTold, image, evidence: bad.map(told) }));
    }
    if (failed.length > 0) {
      const summary = `${image} image: fsck could not do its work`;
      findings.push(incomplete('FSCK_FAILED', summary, failed.map(told)));
    }
    if (!mounted && mountError !== undefined) {
      const about = { code: 'FILE_SYSTEM_UNMOUNTABLE', ...corruptAndTold, evidence: [mountError] };
      findings.push(damage({ ...about, image, summary: 'the file system cannot be mounted' }));
    }
    return findings;
  },
});

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

export const login = ({ log }: Pick<JudgedDatabase, 'log'>): Checker => ({
  name: 'login',
  check({ image, evidence: { login } }) {
    const { refused, unlimited } = login ?? {};
    if (refused !== undefined && troubleIn(refused, log) === undefined) {
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

export function schemaChangeOf(records: readonly SchemaChangeRecord[]): SchemaChange {
  const sent = records.find(({ step }) => step === 'sent');
  const ended = records.find(({ step }) => step === 'ended');
  return {
    ...(sent === undefined ? {} : { sentAtMs: sent.t }),
    ...(ended?.outcome === 'ok' ? { ackedAtMs: ended.t } : {}),
    isRefused: ended?.outcome === 'fail',
  };
}

const never = Number.POSITIVE_INFINITY;
const notAsked: SchemaChange = { isRefused: false };

export const schemaChange: Checker = {
  name: 'schema-change',
  check({ image, evidence: { schema }, schemaChange = notAsked, takenAtMs }): Finding[] {
    if (schema === undefined) return [];
    const { state, oddities } = schema;
    const { sentAtMs = never, ackedAtMs = never, isRefused } = schemaChange;
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
  check: ({ image, evidence }) =>
    (evidence.sqlFailures ?? [])
      .filter(({ error }) => troubleIn(error, log) === undefined)
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
  check({ image, evidence, reconciliation: { rows }, before, ...about }) {
    const { wholeWorkload = false, settings = database.leastAsked } = about;
    const asked = { wholeWorkload, settings, before: before?.evidence };
    const missing = missingParts(database, evidence, rows, asked);
    const gaps = [...evidence.failures, ...missing];
    const troubles = troublesOf(database, evidence);
    const findings: Finding[] = [];
    if (troubles.length > 0) {
      const told = troubles.join('; ').slice(0, 300);
      const summary = `${image} image: the machine lacked what its audit needs: ${told}`;
      findings.push(incomplete('AUDIT_MACHINE_TROUBLE', summary, troubles));
    }
    if (gaps.length > 0) {
      const told = gaps.join('; ').slice(0, 300);
      const summary = `${image} image: parts of the audit are missing: ${told}`;
      findings.push(incomplete('AUDIT_INCOMPLETE', summary, gaps));
    }
    return findings;
  },
});

const purposes: readonly ServerStart['purpose'][] = ['recovery', 'cold', 'check'];

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
  const served = starts.every(({ ready, died }) => ready && died === undefined);
  // A server that died or refused answers took the other parts with it: that is in its findings.
  if (unread === 'damage' || !served || sqlFailures.length > 0) return [];
  const gaps = own.gaps(evidence, asked);
  const missing: string[] = [];
  const need = (there: boolean, part: string): void => {
    if (!there) missing.push(`no ${part}`);
  };
  need(evidence.fsck !== undefined || evidence.isDirectory === true, 'fsck');
  need(Object.keys(evidence.balances).length > 0, 'balances');
  need(evidence.indexCounts.length > 0, 'comparison of the indexes');
  missing.push(...gaps.pages);
  for (const purpose of purposes) {
    const began = starts.some((start) => start.purpose === purpose);
    need(began, `start of the server for ${purpose}`);
  }
  if (asked.wholeWorkload) {
    need(evidence.documents !== undefined, 'documents');
    need(evidence.schema !== undefined, 'look at the schema');
    missing.push(...gaps.logs);
    need(evidence.login !== undefined, 'login of an ordinary client');
  }
  missing.push(...gaps.tables);
  return missing;
}

/** Every trouble that an audit met and what it kept from being read. */
function troublesOf({ own, log }: JudgedDatabase, evidence: ImageEvidence): string[] {
  const { mountError, starts, sqlFailures = [] } = evidence;
  const told: string[] = [];
  const tell = (what: string, trouble: string | undefined, said: string): void => {
    if (trouble !== undefined) told.push(`${what}: ${trouble} (${said})`);
  };
  if (mountError !== undefined) tell('mount', troubleIn(mountError, log), mountError);
  for (const start of starts) {
    tell(`server for ${start.purpose}`, troubleOfStart(start, log), start.errorLines.join('; '));
  }
  for (const { what, error } of sqlFailures) tell(what, troubleIn(error, log), error);
  for (const { what, answer } of own.answers(evidence)) {
    tell(what, troubleIn(answer, log), answer);
  }
  return told;
}

// Whether the server starts on the copy and lives, and what its error log says.

const occasion = (purpose: ServerStart['purpose'], { tools }: JudgedDatabase): string =>
  ({ recovery: 'for crash recovery', cold: 'after a kill -9', check: `for ${tools.checkTable}` })[
    purpose
  ];

export const serverStarts = (database: JudgedDatabase): Checker => ({
  name: 'server-starts',
  check: ({ image, evidence }) =>
    evidence.starts.flatMap((start) => judgeStart(database, image, start)),
});

function judgeStart(database: JudgedDatabase, image: string, start: ServerStart): Finding[] {
  const { purpose, ready, died, durationMs, errorLines } = start;
  const { server, tools, log } = database;
  // What kept the machine from running it is told beside what is missing.
  if ((ready && died === undefined) || troubleOfStart(start, log) !== undefined) return [];
  const when = `started ${occasion(purpose, database)}`;
  const how = died === undefined ? `not ready after ${durationMs} ms` : `ended with ${died}`;
  if (!refusedToStart(start) && !diedByItself(start)) {
    // Hung without a word, or killed by someone else: no proof of damage, but no audit either.
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

const mendedLines = (
  { purpose, ready, died, errorLines }: ServerStart,
  log: ServerLog,
): string[] =>
  purpose === 'recovery' && ready && died === undefined
    ? errorLines.filter((line) => log.mended.test(line))
    : [];

export const errorLog = ({ server, log }: Pick<JudgedDatabase, 'server' | 'log'>): Checker => ({
  name: 'error-log',
  check({ image, evidence }) {
    const mended = evidence.starts.flatMap((start) => mendedLines(start, log));
    const said = new Set(evidence.starts.flatMap(({ errorLines }) => errorLines));
    const lines = [...said].filter((line) => !mended.includes(line));
    const troubled = new Set(
      evidence.starts
        .filter((start) => troubleOfStart(start, log) !== undefined)
        .flatMap((each) => each.errorLines),
    );
    const isBad = (line: string): boolean =>
      log.damage.test(line) && !troubled.has(line) && troubleIn(line, log) === undefined;
    const bad = lines.filter(isBad);
    const other = lines.filter((line) => !isBad(line));
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
    if (other.length > 0) {
      const summary = `${image} image: ${server}'s error log has ${plural(other.length, 'other error')}`;
      findings.push(note('ERROR_LOG_OTHER', summary, other));
    }
    return findings;
  },
});
