/** Statements that a living server refused to answer: an application would have met the same. */
import { database } from '../database/chosen.ts';
import type { Checker } from './checker.ts';
import { damage } from './findings.ts';
import { troubleIn } from './machine-trouble.ts';

export const sqlFailures: Checker = {
  name: 'sql-failures',
  check: ({ image, evidence }) =>
    (evidence.sqlFailures ?? [])
      .filter(({ error }) => troubleIn(error) === undefined)
      .map(({ what, error }) =>
        damage({
          code: 'SQL_REFUSED',
          image,
          safety: 'corrupt',
          loud: true,
          summary: `${database.server} cannot answer: ${what}`,
          evidence: [error],
        }),
      ),
};
