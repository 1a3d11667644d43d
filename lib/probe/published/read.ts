/** What both kinds of certificates are read with. */
import { UsageError } from '../../errors.ts';

/** Names become paths. */
export const safeName = /^[a-z0-9]([\w.+-]*[a-z0-9])?$/i;

export const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

export const notOne = (why: string): UsageError =>
  new UsageError('NO_CERTIFICATE', why, {
    hint: 'give the file that `--out` wrote, as it is',
  });
