/**
 * `node scripts/probe-image.ts [published]`: makes the image that `probe --print-job` names, from this
 * checkout, and prints its name. `published`: on an official image of Node, else on the one that is built here.
 */
import { endOf, say, tell } from '../lib/cli/command.ts';
import { exitCode, UsageError, type ExitCode } from '../lib/errors.ts';
import { buildStep, cacheFolder, presentImages } from '../lib/images/build.ts';
import { probePart } from '../lib/images/built/probe.ts';
import { runtimePart } from '../lib/images/built/tools.ts';
import { publishedProbe } from '../lib/images/published.ts';
import { projectRoot } from '../lib/images/plan.ts';

process.exitCode = await endOf(build);

async function build(): Promise<ExitCode> {
  const [, , source] = process.argv;
  if (source !== undefined && source !== 'published') {
    throw new UsageError('BAD_FLAG', `there is no ${source}`, {
      hint: 'node scripts/probe-image.ts [published]',
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
