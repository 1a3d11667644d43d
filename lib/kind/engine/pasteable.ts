/** A command as a person can paste it. */
import { quote } from 'zx';

export const pasteable = (argv: readonly string[]): string =>
  argv.map((word) => quote(word)).join(' ');
