/** Statements that a living server refused to answer: an application would have met the same. */
import type { JudgedDatabase } from '../database.ts';
import type { Checker } from './checker.ts';
import { damage, corruptAndTold } from './findings.ts';
import { troubleIn } from './machine-trouble.ts';

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
