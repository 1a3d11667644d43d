/** Whether mysqld starts on the copy and lives, and what its error log says. */
import type { Finding } from '../experiment/verdict.ts';
import type { Checker } from './checker.ts';
import type { ServerStart } from './evidence.ts';
import { damage, incomplete, note } from './findings.ts';
import { plural } from '../counts.ts';
import { troubleIn, troubleOfStart } from './machine-trouble.ts';
import { diedByItself, refusedToStart } from './readability.ts';

const occasion: Readonly<Record<ServerStart['purpose'], string>> = {
  recovery: 'for crash recovery',
  cold: 'after a kill -9',
  check: 'for CHECK TABLE',
};

export const serverStarts: Checker = {
  name: 'server-starts',
  check: ({ image, evidence }) => evidence.starts.flatMap((start) => judgeStart(image, start)),
};

function judgeStart(image: string, start: ServerStart): Finding[] {
  const { purpose, ready, died, durationMs, errorLines } = start;
  // What kept the machine from running it is told beside what is missing.
  if ((ready && died === undefined) || troubleOfStart(start) !== undefined) return [];
  const when = `started ${occasion[purpose]}`;
  const how = died === undefined ? `not ready after ${durationMs} ms` : `ended with ${died}`;
  if (!refusedToStart(start) && !diedByItself(start)) {
    // Hung without a word, or killed by someone else: no proof of damage, but no audit either.
    return [incomplete('SERVER_HUNG', `${image} image: mysqld ${when} did not serve`, [how])];
  }
  const about = { image, safety: 'corrupt', loud: true, evidence: [how, ...errorLines] } as const;
  if (!ready) {
    return [damage({ code: 'SERVER_CANNOT_START', summary: `mysqld ${when} fails`, ...about })];
  }
  const summary =
    purpose === 'check' ? 'CHECK TABLE crashes mysqld' : `mysqld ${when} died while it was read`;
  return [
    damage({
      code: purpose === 'check' ? 'CHECK_TABLE_CRASHED' : 'SERVER_DIED',
      summary,
      ...about,
    }),
  ];
}

/** InnoDB's errors and any talk of corruption or a crash; other errors are for a person to read. */
const saysDamage = /\[InnoDB\]|corrupt|Assertion failure|mysqld got signal/i;

/**
 * InnoDB says so of a data file whose first page is torn, before it puts the copy from the
 * doublewrite file there (storage/innobase/fsp/fsp0file.cc, Datafile::validate_for_recovery).
 */
const saysTornFirstPage = /\[MY-012224\]/;

const mendedLines = ({ purpose, ready, died, errorLines }: ServerStart): string[] =>
  purpose === 'recovery' && ready && died === undefined
    ? errorLines.filter((line) => saysTornFirstPage.test(line))
    : [];

export const errorLog: Checker = {
  name: 'error-log',
  check({ image, evidence }) {
    const mended = evidence.starts.flatMap(mendedLines);
    const said = new Set(evidence.starts.flatMap(({ errorLines }) => errorLines));
    const lines = [...said].filter((line) => !mended.includes(line));
    const troubled = new Set(
      evidence.starts.filter(troubleOfStart).flatMap((each) => each.errorLines),
    );
    const isBad = (line: string): boolean =>
      saysDamage.test(line) && !troubled.has(line) && troubleIn(line) === undefined;
    const bad = lines.filter(isBad);
    const other = lines.filter((line) => !isBad(line));
    const findings: Finding[] = [];
    if (mended.length > 0) {
      const summary = `${image} image: crash recovery mended a torn first page`;
      findings.push(note('TORN_PAGE_MENDED', summary, mended));
    }
    if (bad.length > 0) {
      const summary = `mysqld's error log tells of damage in ${plural(bad.length, 'line')}`;
      const code = 'ERROR_LOG_DAMAGE';
      findings.push(damage({ code, image, safety: 'corrupt', loud: true, summary, evidence: bad }));
    }
    if (other.length > 0) {
      const summary = `${image} image: mysqld's error log has ${plural(other.length, 'other error')}`;
      findings.push(note('ERROR_LOG_OTHER', summary, other));
    }
    return findings;
  },
};
