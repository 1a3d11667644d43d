/** A caller's own database and checkers, which a history has by their names only. */
import { EvidenceError } from '../../core/index.ts';
import type { CustomNames } from '../../history/index.ts';
import type { Checker } from '../checkers/checker.ts';
import { stockDatabaseName, type JudgedDatabase } from '../database.ts';

/** A history has its database's own words, and not their meaning. Throws EvidenceError `DATABASE_NOT_HERE`. */
export function mustBeOf(names: CustomNames | undefined, database: JudgedDatabase): void {
  const { name = stockDatabaseName } = names?.database ?? {};
  if (name === database.name) return;
  const which = name === stockDatabaseName ? name : `\`${name}\`, from outside`;
  const problem = `the run’s database is ${which}, which this program does not have`;
  throw new EvidenceError('DATABASE_NOT_HERE', problem, {
    hint: 'make its report with the script that ran it: only that script has its checks',
  });
}

/** Reasons why the run's judgement is not whole without them: checkers that are not at hand. */
export const absentCheckers = (
  names: CustomNames | undefined,
  given: readonly Checker[],
): readonly string[] =>
  (names?.checkers ?? [])
    .filter((name) => !given.some((each) => each.name === name))
    .map(
      (name) =>
        `the run’s own checker ${name} is not here: only its author’s script can judge anew`,
    );
