/** Statements that a living server refused to answer: an application would have met the same. */
import { database } from '../database/chosen.ts';
import type { Checker } from './checker.ts';
import { damage, corruptAndTold } from './findings.ts';
import { troubleIn } from './machine-trouble.ts';

export const sqlFailures: Checker = {
  name: 'sql-failures',
  check: ({ image, evidence }) =>
    (evidence.sqlFailures ?? [])
      .filter(({ error }) => troubleIn(error) === undefined)
      .map(({ what, error }) => {
        const summary = `${database.server} cannot answer: ${what}`;
        const about = { code: 'SQL_REFUSED', ...corruptAndTold, image };
        return damage({ ...about, summary, evidence: [error] });
      }),
};
