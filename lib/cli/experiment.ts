/** What every experiment file calls: flags to scenario, backend, run, outputs, exit code. */
import { join } from 'node:path';
import { exitCodeOf, type Verdict } from '../experiment/verdict.ts';
import { exitCode, type ExitCode } from '../errors.ts';
import { madeBy } from '../images/image-set.ts';
import { plainText } from '../plain-text.ts';
import { scriptArguments } from './arguments.ts';
import { chooseBackend, openBackend, type BackendChoice } from './backend.ts';
import { endOf, say } from './command.ts';
import { describeImages, describeRequest } from './describe.ts';
import { onInterrupt } from './interrupt.ts';
import { Narrator } from './narrator.ts';
import { startProgress } from './progress.ts';
import {
  refuseUnmeasurable,
  refuseUnmodelled,
  requestOf,
  type ExperimentDefinition,
  type RunRequest,
} from './request.ts';
import { checkFolder, makeRunFolder } from './run-folder.ts';
import { TimeLeft } from './time-left.ts';
import { verdictLines } from './verdict-lines.ts';
import { modelRunId } from './run-id.ts';

export type { ExperimentDefinition } from './request.ts';

/** Runs the experiment that `args` ask for and sets the exit code. Never throws. */
export async function runExperiment(
  definition: ExperimentDefinition,
  args: readonly string[] = scriptArguments(definition.name, process.argv),
): Promise<void> {
  process.exitCode = await endOf(async () => {
    const request = requestOf(definition, args, new Date());
    return request === undefined ? exitCode.expected : carryOut(request);
  });
}

async function carryOut(request: RunRequest): Promise<ExitCode> {
  const { flags, scenario } = request;
  checkFolder(request.folder);
  const choice = await chooseBackend(flags);
  if (choice.backend === 'sim') refuseUnmodelled(scenario);
  else refuseUnmeasurable(scenario, madeBy(choice.images));
  const described = describeRequest(request, choice, { all: flags.dryRun });
  const description = `${plainText(described)}\n`;
  if (flags.dryRun) {
    const images = await describeImages(request, choice);
    process.stdout.write(`${description}${images}dry run: nothing was created\n`);
    return exitCode.expected;
  }
  process.stderr.write(description);
  makeRunFolder(request.folder);
  const verdict = await run(request, choice);
  await writeReport(request.folder, verdict);
  const stream = flags.json ? process.stderr : process.stdout;
  stream.write(`${verdictLines(verdict, join(request.folder, 'report.html'), stream)}\n`);
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
  // Lines tell what the engine, the cluster and the database said.
  const tellStep = (line: string): void => progress.say(plainText(line));
  const narrator = new Narrator(progress);
  const left = new TimeLeft();
  const unhealed: string[] = [];
  using interrupt = onInterrupt(tellStep, () => left.words());
  interrupt.signal.addEventListener('abort', () => left.interrupt());
  try {
    return await runScenario({
      scenario,
      seed,
      runId,
      folder,
      backend,
      replay: request.replay(choice.backend),
      onProgress: tellStep,
      onPhase: (phase) => progress.phase(phase),
      onStep: (step) => left.enter(step),
      onUnhealed: (what) => unhealed.push(what),
      onRecord: (record) => narrator.see(record),
      signal: interrupt.signal,
    });
  } finally {
    await progress.end();
    // Last, where it is not overlooked.
    for (const what of unhealed) say(`NOT HEALED, or left behind: ${what}`);
  }
}

async function writeReport(folder: string, verdict: Verdict): Promise<void> {
  const { openHistory } = await import('../history/reader.ts');
  const { writeRun } = await import('../report/write.ts');
  await writeRun(folder, verdict, openHistory(folder));
}
