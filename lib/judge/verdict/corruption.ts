/** What of a corrupt database is broken, in a few words: the plainest finding of the run. */
import type { JudgedDatabase } from '../database.ts';
import type { Finding } from './verdict.ts';

/** By the code of the finding, the plainest first; any other says it in its own words. */
const plainest = ({
  server,
}: Pick<JudgedDatabase, 'server'>): Readonly<Record<string, string>> => ({
  FILE_SYSTEM_UNMOUNTABLE: 'its file system cannot be mounted',
  SERVER_CANNOT_START: `${server} cannot start`,
  SERVER_DIED: `${server} dies while it reads its data`,
  FSCK_ERRORS: 'its file system has errors',
});

/** Without the copy that it was found on. */
export const bareSummary = ({ summary }: Pick<Finding, 'summary'>): string =>
  summary.replace(/^\w+ image: /, '');

export function corruptionIn(
  findings: readonly Finding[],
  database: Pick<JudgedDatabase, 'server'>,
): string {
  const found = findings.filter(({ safety }) => safety === 'corrupt');
  const words = plainest(database);
  const code = Object.keys(words).find((each) => found.some((finding) => finding.code === each));
  if (code !== undefined) return words[code] ?? code;
  return found[0] === undefined ? 'a structure is broken' : bareSummary(found[0]);
}
