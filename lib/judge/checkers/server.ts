/** Whether the server starts on the copy and lives, and what its error log says. */
import type { JudgedDatabase } from '../database.ts';
import type { ServerLog } from '../database.ts';
import type { Finding } from '../verdict/verdict.ts';
import type { Checker } from './checker.ts';
import type { ServerStart } from '../../history/index.ts';
import { damage, incomplete, note, corruptAndTold } from './findings.ts';
import { plural } from '../../core/index.ts';
import { troubleIn, troubleOfStart } from './machine-trouble.ts';
import { diedByItself, refusedToStart } from './readability.ts';

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
