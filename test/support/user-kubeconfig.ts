/** A user's kubeconfig for whatever answers at a URL. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Its path; the contexts are `one` (the current one) and `two`. `user`: default a token. */
export function writeKubeconfig(
  folder: string,
  url: string,
  user: Readonly<Record<string, unknown>> = { token: 't' },
): string {
  const path = join(folder, 'config.json');
  const contexts = ['one', 'two'].map((name) => ({ name, context: { cluster: 'c', user: 'u' } }));
  const clusters = [{ name: 'c', cluster: { server: url, 'insecure-skip-tls-verify': true } }];
  const users = [{ name: 'u', user }];
  writeFileSync(path, JSON.stringify({ 'current-context': 'one', contexts, clusters, users }));
  return path;
}
