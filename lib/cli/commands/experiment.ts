/** What every experiment file calls: flags to scenario, backend, run, outputs, exit code. */
import { join } from 'node:path';
import { exitCodeOf, type Verdict } from '../../experiment/verdict/verdict.ts';
import { exitCode, type ExitCode } from '../../errors.ts';
import { chooseBackend, openBackend } from '../../library/backend.ts';
import {
  performRun,
  planRun,
  writeReport,
  type ClusterSource,
  type RunPlan,
} from '../../library/run-plan.ts';
import { plainText } from '../../plain-text.ts';
import { scriptArguments } from '../flags/arguments.ts';
import { endOf, say } from '../command.ts';
import { describeImages, describeRequest } from '../terminal/describe.ts';
import type { Flags } from '../flags/flags.ts';
import { onInterrupt } from '../interrupt.ts';
import { Narrator } from '../terminal/narrator.ts';
import { startProgress, type Progress } from '../terminal/progress.ts';
import { requestOf, type ExperimentDefinition, type RunRequest } from '../flags/request.ts';
import { TimeLeft } from '../terminal/time-left.ts';
import { verdictLines } from '../terminal/verdict-lines.ts';

export type { ExperimentDefinition } from '../flags/request.ts';

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
  const { flags } = request;
  const plan = await planRun({ ...request, cluster: clusterOf(flags) });
  const described = describeRequest(request, plan.choice, { all: flags.dryRun });
  const description = `${plainText(described)}\n`;
  if (flags.dryRun) {
    const images = await describeImages(request, plan.choice);
    process.stdout.write(`${description}${images}dry run: nothing was created\n`);
    return exitCode.expected;
  }
  process.stderr.write(description);
  const verdict = await run(plan);
  await writeReport(plan.folder, verdict);
  const stream = flags.json ? process.stderr : process.stdout;
  stream.write(`${verdictLines(verdict, join(plan.folder, 'report.html'), stream)}\n`);
  if (flags.json) process.stdout.write(`${JSON.stringify(verdict, undefined, 2)}\n`);
  return exitCodeOf(verdict);
}

const clusterOf = (flags: Flags): ClusterSource => ({
  choose: (scenario) => chooseBackend({ ...flags, ...scenario }),
  open: (choice) => openBackend(choice, flags),
});

/** Told on the terminal as it goes, and ended by a signal. */
async function run(plan: RunPlan): Promise<Verdict> {
  let progress: Progress | undefined;
  // Lines tell what the engine, the cluster and the database said.
  const tellStep = (line: string): void => progress?.say(plainText(line));
  const left = new TimeLeft();
  const unhealed: string[] = [];
  using interrupt = onInterrupt(tellStep, () => left.words());
  interrupt.signal.addEventListener('abort', () => left.interrupt());
  try {
    return await performRun(plan, (clock) => {
      const shown = startProgress(process.stderr, clock);
      progress = shown;
      const narrator = new Narrator(shown);
      return {
        onProgress: tellStep,
        onPhase: (phase) => shown.phase(phase),
        onStep: (step) => left.enter(step),
        onUnhealed: (what) => unhealed.push(what),
        onRecord: (record) => narrator.see(record),
        signal: interrupt.signal,
      };
    });
  } finally {
    await progress?.end();
    // Last, where it is not overlooked.
    for (const what of unhealed) say(`NOT HEALED, or left behind: ${what}`);
  }
}
