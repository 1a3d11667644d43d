/** What every experiment file calls: flags to scenario, backend, run, outputs, exit code. */
import { join } from 'node:path';
import { exitCodeOf, type Verdict } from '../experiment/verdict.ts';
import { describeError, exitCode, ForcedetachError } from '../errors.ts';
import { scriptArguments } from './arguments.ts';
import { chooseBackend, openBackend, type BackendChoice } from './backend.ts';
import { describeImages, describeRequest } from './describe.ts';
import { onInterrupt } from './interrupt.ts';
import { startProgress } from './progress.ts';
import {
  refuseUnmeasurable,
  refuseUnmodelled,
  requestOf,
  type ExperimentDefinition,
  type RunRequest,
} from './request.ts';
import { makeRunFolder } from './run-folder.ts';
import { verdictLine } from './verdict-line.ts';
import { modelRunId } from './run-id.ts';

export type { ExperimentDefinition } from './request.ts';

/** Runs the experiment that `args` ask for and sets the exit code. Never throws. */
export async function runExperiment(
  definition: ExperimentDefinition,
  args: readonly string[] = scriptArguments(definition.name, process.argv),
): Promise<void> {
  try {
    const request = requestOf(definition, args, new Date());
    process.exitCode = request === undefined ? exitCode.expected : await carryOut(request);
  } catch (error) {
    process.stderr.write(`${describeError(error)}\n`);
    process.exitCode = error instanceof ForcedetachError ? error.exitCode : exitCode.infrastructure;
    if (!(error instanceof ForcedetachError) && error instanceof Error) {
      process.stderr.write(`${error.stack}\n`);
    }
  }
}

async function carryOut(request: RunRequest): Promise<number> {
  const { flags, scenario } = request;
  const choice = await chooseBackend(flags);
  if (choice.backend === 'sim') refuseUnmodelled(scenario);
  else refuseUnmeasurable(scenario, choice.images.source);
  const description = `${describeRequest(request, choice)}\n`;
  if (flags.dryRun) {
    const images = await describeImages(request, choice);
    process.stdout.write(`${description}${images}dry run: nothing was created\n`);
    return exitCode.expected;
  }
  process.stderr.write(description);
  makeRunFolder(request.folder);
  const verdict = await run(request, choice);
  await writeReport(request.folder, verdict);
  const line = verdictLine(verdict, join(request.folder, 'report.html'));
  (flags.json ? process.stderr : process.stdout).write(`${line}\n`);
  if (flags.json) process.stdout.write(`${JSON.stringify(verdict, undefined, 2)}\n`);
  return exitCodeOf(verdict);
}

/** What only a run needs is imported by a run: --help and --dry-run answer at once. */
async function run(request: RunRequest, choice: BackendChoice): Promise<Verdict> {
  const { runScenario } = await import('../experiment/run.ts');
  const { scenario, seed, folder } = request;
  const runId = choice.backend === 'sim' ? modelRunId(seed) : request.runId;
  const backend = await openBackend(choice, request.flags);
  const progress = startProgress(process.stderr, backend.clock);
  const say = (line: string): void => progress.say(line);
  using interrupt = onInterrupt(say, () => progress.current());
  try {
    return await runScenario({
      scenario,
      seed,
      runId,
      folder,
      backend,
      replay: request.replay(choice.backend),
      onProgress: say,
      onPhase: (phase) => progress.phase(phase),
      signal: interrupt.signal,
    });
  } finally {
    await progress.end();
  }
}

async function writeReport(folder: string, verdict: Verdict): Promise<void> {
  const { openHistory } = await import('../history/reader.ts');
  const { writeRun } = await import('../report/write.ts');
  await writeRun(folder, verdict, openHistory(folder));
}
