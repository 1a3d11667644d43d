/**
 * Puts what this checkout builds into a registry, from where `--images published --registry` takes
 * it on other machines. Needs a login there, if it asks for one.
 *
 *   npx node scripts/publish-images.ts 127.0.0.1:5000 [kubernetes]
 */
import { $ } from '../lib/kind/engine/shell.ts';
import { commandLine, exitCodeAfter, parseArguments, say, tell } from '../lib/cli/command.ts';
import {
  kubernetes as kubernetesOf,
  registry as registryOf,
} from '../lib/cli/flags/flag-values.ts';
import * as engine from '../lib/kind/engine/commands.ts';
import { exitCode, type ExitCode } from '../lib/core/errors.ts';
import { builtParts } from '../lib/kind/images/built/parts.ts';
import { ensureImages } from '../lib/kind/images/ensure.ts';
import { projectRoot } from '../lib/core/program.ts';
import { kubernetesDefault, releaseOf } from '../lib/core/kubernetes.ts';
import { mirroredNames, mirroredRef } from '../lib/kind/images/image-plan.ts';

process.exitCode = await exitCodeAfter(publish);

async function publish(): Promise<ExitCode> {
  const command = commandLine('npx node scripts/publish-images.ts', [
    ['into a registry of this machine', '127.0.0.1:5000/mirror'],
    ['of another minor', '127.0.0.1:5000/mirror 1.36'],
  ])
    .description(
      'Puts what this checkout builds into a registry; prints each image with its digest.',
    )
    .argument('<registry>', 'host, port and path, as in 127.0.0.1:5000/mirror', registryOf)
    .argument('[kubernetes]', 'a minor, or a patch of one', kubernetesOf, kubernetesDefault);
  parseArguments(command, process.argv.slice(2));
  const [registry, kubernetes] = command.processedArgs as [string, string];
  await ensureImages({
    source: 'built',
    kubernetes,
    provisioner: true,
    beside: ['initiator', 'ceph'],
    onProgress: say,
  });
  const parts = builtParts(projectRoot, releaseOf(kubernetes, 'built'));
  for (const name of mirroredNames)
    tell(await push(parts[name].ref, mirroredRef(registry, parts[name])));
  return exitCode.expected;
}

/** Resolves to the image by its digest. The name is for the way there only: nothing stays. */
async function push(built: string, ref: string): Promise<string> {
  const quiet = $({ quiet: true });
  await quiet`${engine.tagImage(built, ref)}`;
  try {
    const { stdout } = await quiet`${engine.pushImage(ref)}`;
    const digest = /digest: (sha256:[0-9a-f]{64})/.exec(stdout)?.[1] ?? 'without a digest';
    return `${ref} ${digest}`;
  } finally {
    await quiet`${engine.removeImage(ref)}`;
  }
}
