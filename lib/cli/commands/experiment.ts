/** What every experiment file calls: flags to scenario, backend, run, outputs, exit code. */
import { join } from 'node:path';
import { exitCodeOf } from '../../experiment/verdict/verdict.ts';
import { exitCode, type ExitCode } from '../../errors.ts';
import { chooseBackend, openBackend } from '../../library/backend.ts';
import { checkNewFolder } from '../../library/run-folder.ts';
import { performRun, planRun, type ClusterSource } from '../../library/run-plan.ts';
import { plainText } from '../../plain-text.ts';
import { scriptArguments } from '../flags/typed.ts';
import { exitCodeAfter } from '../command.ts';
import { exitCodeUnder } from '../fail-on.ts';
import { describeImages, describeRequest } from '../terminal/describe.ts';
import type { RunFlags } from '../flags/flags.ts';
import { onTerminal } from '../terminal/on-terminal.ts';
import { requestOf, type ExperimentDefinition, type RunRequest } from '../flags/request.ts';
import { verdictLines } from '../terminal/verdict-lines.ts';

export type { ExperimentDefinition } from '../flags/request.ts';

/** Runs the experiment that `args` ask for and sets the exit code. Never throws. */
export async function runExperiment(
  definition: ExperimentDefinition,
  args: readonly string[] = scriptArguments(definition.name, process.argv),
): Promise<void> {
  process.exitCode = await exitCodeAfter(async () => {
    const request = requestOf(definition, args, new Date());
    return request === undefined ? exitCode.expected : carryOut(request);
  });
}

async function carryOut(request: RunRequest): Promise<ExitCode> {
  const { flags } = request;
  const stream = flags.json ? process.stderr : process.stdout;
  checkNewFolder(request.folder, true);
  const plan = await planRun({ ...request, cluster: clusterOf(flags) });
  const described = describeRequest(request, plan.choice, { all: flags.dryRun });
  const description = `${plainText(described)}\n`;
  if (flags.dryRun) {
    const images = await describeImages(request, plan.choice);
    stream.write(`${description}${images}dry run: nothing was created\n`);
    return exitCode.expected;
  }
  process.stderr.write(description);
  const judged = await onTerminal((watch) => performRun(plan, watch));
  await judged.write(plan.folder);
  const { verdict } = judged;
  stream.write(`${verdictLines(judged, join(plan.folder, 'report.html'), stream)}\n`);
  if (flags.json) process.stdout.write(`${JSON.stringify(verdict, undefined, 2)}\n`);
  return exitCodeUnder(flags.failOn, exitCodeOf(verdict), [verdict.verdict]);
}

const clusterOf = (flags: RunFlags): ClusterSource => ({
  choose: (scenario) => chooseBackend({ ...flags, ...scenario }),
  open: (choice) => openBackend(choice, flags),
});
