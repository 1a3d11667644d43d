/** One line of POSIX shell that runs a script with arguments, whatever is in them. */

/** Ends at the first command that fails; nothing is read from the caller's stdin. */
export const shellCommand = (script: string, args: readonly (string | number)[]): string =>
  ['sh', '-euc', script, 'sh', ...args.map(String)].map(quoted).join(' ') + ' </dev/null 2>&1';

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
