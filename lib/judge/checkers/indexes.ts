/** Reading a table by its primary key and by a secondary index must give the same rows. */
import type { Checker } from './checker.ts';
import { damage, corruptInSilence } from './findings.ts';

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
