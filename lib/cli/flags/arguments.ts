/**
 * A script's own arguments. Not zx's `argv`: it turns `0x1F` into 31 and drops digits of long
 * seeds. Under `npx zx experiments/x.mjs …` process.argv is [node, zx, x.mjs, …].
 */
import { basename } from 'node:path';
import { quote } from 'zx';
import { asTyped } from './typed.ts';

/** What follows the script named `<name>.mjs`; everything after the first element without one. */
export function scriptArguments(name: string, argv: readonly string[]): string[] {
  const index = argv.findIndex((each) => basename(each, '.mjs') === name);
  return argv.slice(index === -1 ? 2 : index + 1);
}

/** A command line that can be pasted, from its words. */
export const paste = (words: readonly string[]): string =>
  asTyped(words.map((word) => quote(word)).join(' '));
