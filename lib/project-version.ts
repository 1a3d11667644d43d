/** Version of this project, as its package.json says it: the checkout's, or the one beside the npm package's code. */
import { readFileSync } from 'node:fs';

export function projectVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return String((JSON.parse(text) as { readonly version: unknown }).version);
}
