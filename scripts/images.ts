/**
 * `npm run images`: has the images that a cluster needs on this engine before the first one is made;
 * whoever needs them meanwhile waits for the same build.
 */
import { exitCodeAfter, say, tell } from '../lib/cli/command.ts';
import { exitCode, type ExitCode } from '../lib/core/errors.ts';
import { ensureImages } from '../lib/kind/images/ensure.ts';
import { kubernetesDefault } from '../lib/core/kubernetes.ts';

process.exitCode = await exitCodeAfter(make);

async function make(): Promise<ExitCode> {
  const wish = { source: 'auto', kubernetes: kubernetesDefault } as const;
  const every = { provisioner: true, beside: ['initiator'] as const };
  const { ids } = await ensureImages({ ...wish, ...every, onProgress: say });
  for (const [name, id] of Object.entries(ids)) tell(`${name} ${id}`);
  return exitCode.expected;
}
