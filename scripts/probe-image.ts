/**
 * `npx node scripts/probe-image.ts [published]`: makes the image that `probe --print-job` names, from this
 * checkout, and prints its name. `published`: on an official image of Node, else on the one that is built here.
 */
import { readFileSync } from 'node:fs';
import { exitCodeAfter, say, tell } from '../lib/cli/command.ts';
import * as recipe from '../lib/kind/engine/recipe.ts';
import { exitCode, UsageError, type ExitCode } from '../lib/core/errors.ts';
import { buildStep, cacheFolder, presentImages } from '../lib/kind/images/ensure.ts';
import { runtimePart } from '../lib/kind/images/built/parts.ts';
import {
  installedClosure,
  definePart,
  labelChanges,
  type ImagePart,
  type StagedCode,
  type ImageStep,
} from '../lib/kind/images/part.ts';
import { filesUnder } from '../lib/core/source.ts';
import { projectRoot } from '../lib/core/program.ts';
import { partLabels } from '../lib/kind/images/image-plan.ts';

async function build(): Promise<ExitCode> {
  const [, , source] = process.argv;
  if (source !== undefined && source !== 'published') {
    throw new UsageError('BAD_FLAG', `there is no ${source}`, {
      hint: 'npx node scripts/probe-image.ts [published]',
    });
  }
  const runtime = runtimePart(projectRoot);
  const image = probePart(projectRoot, runtime);
  const steps = source === 'published' ? [publishedProbe(projectRoot)] : [runtime, image];
  const options = { root: projectRoot, cache: cacheFolder(), onProgress: say, signal: undefined };
  const present = await presentImages();
  for (const step of steps) if (!present.has(step.ref)) await buildStep(step, options);
  tell(steps.at(-1)?.ref ?? '');
  return exitCode.expected;
}

/** All that decides the harness's version is in it, so that a certificate names the same one. */
const folders = ['bin', 'experiments', 'lib', 'manifests'];
const files = ['data/drivers.yaml', 'package.json'];

/** What goes into it, the same on both image ways: this checkout, and its packages. */
function stageProbe(root: string): StagedCode {
  const { dependencies } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const closure = installedClosure(root, Object.keys(dependencies));
  const all = [...folders, ...files];
  return {
    files: all.flatMap((path) => filesUnder(`${root}/${path}`)),
    settings: closure.map((entry) => `${entry.path}@${entry.version}`),
    commands: [
      'mkdir -p "$WORK/app"',
      `cp --parents -r ${[...all, ...closure.map((entry) => entry.path)].join(' ')} "$WORK/app"`,
    ],
  };
}

/** The runtime, and forcedetach as its entry point. It serves as its pods' image, too. */
function probePart(root: string, runtime: ImagePart): ImagePart {
  const { files, settings, commands } = stageProbe(root);
  const changes = [
    'ENV PATH=/app/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    'ENTRYPOINT ["/usr/local/bin/node", "/app/bin/forcedetach.mjs"]',
  ].map((change) => `--change '${change}'`);
  return definePart('probe', { files, settings, needs: [runtime] }, (key, ref) => [
    ...commands,
    'ln -s forcedetach.mjs "$WORK/app/bin/forcedetach"',
    ...recipe.addFolder({
      container: `forcedetach-build-${key}`,
      from: runtime.ref,
      folder: ['"$WORK/app/."', '/app'],
      changes: `${changes.join(' ')} ${labelChanges('probe', key)}`,
      ref,
    }),
  ]);
}

/** On an official image of Node. */
function publishedProbe(root: string): ImageStep {
  const { files, settings, commands } = stageProbe(root);
  const file = 'lib/kind/images/published/probe.Dockerfile';
  const inputs = { files: [...files, `${root}/${file}`], settings };
  return definePart('published-probe', inputs, (key, ref) => [
    ...commands,
    recipe.build(partLabels('probe', key), file, ref, '"$WORK"'),
  ]);
}

process.exitCode = await exitCodeAfter(build);
