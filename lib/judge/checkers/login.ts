/** An application can log in to the server, do its work, and no more than it was granted. */
import type { JudgedDatabase } from '../database.ts';
import type { Checker } from './checker.ts';
import { damage, corruptAndTold, corruptInSilence } from './findings.ts';
import { troubleIn } from './machine-trouble.ts';

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
