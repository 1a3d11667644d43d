/** An experiment from its flags to its outputs: a preset of experiments/, or a schedule file. */
import { join } from 'node:path';
import type { Command } from 'commander';
import { exitCodeOf } from '../../judge/index.ts';
import {
  exitCode,
  UsageError,
  type ExitCode,
  plainText,
  scriptArguments,
  typed,
} from '../../core/index.ts';
import { writtenOf } from '../../scenario/index.ts';
import { chooseBackend, openBackend } from '../library/backend.ts';
import { performRun, planRun, type ClusterSource } from '../library/run-plan.ts';
import { mysql } from '../../mysql/index.ts';
import { exitCodeAfter, exits, perform, say, tell } from '../command.ts';
import { exitCodeUnder } from '../fail-on.ts';
import { describeImages, describeRequest } from '../terminal/describe.ts';
import { anyExperiment, flagsOf, helpOf, type ParsedFlags, type RunFlags } from '../flags/flags.ts';
import { onTerminal } from '../terminal/on-terminal.ts';
import {
  helpBaseOf,
  requestOf,
  type ExperimentDefinition,
  type RunRequest,
} from '../flags/request.ts';
import { presetNames, readPreset } from '../presets.ts';
import { verdictLines } from '../terminal/verdict-lines.ts';

/** Plays the experiment of a file that was started, with its flags. Sets the exit code. Never throws. */
export async function playPreset(definition: ExperimentDefinition): Promise<void> {
  const command = anyExperiment(typed(definition.name));
  const flags = flagsOf(command);
  command.action(exits(() => play(definition, flags(), [definition.name])));
  process.exitCode = await exitCodeAfter(() => perform(command, scriptArguments()));
}

export function runCommandLine(): Command {
  const command = anyExperiment('npx forcedetach run').argument('[experiment]');
  const flags = flagsOf(command);
  return command.action(
    exits(async (name?: string) => {
      const parsed = flags();
      const { help, helpAll } = parsed.flags;
      const hasFault = parsed.settings.fault !== undefined;
      if (name === undefined && !hasFault && (help || helpAll || parsed.given.size === 0)) {
        tell(usage());
        return exitCode.expected;
      }
      const definition = await presetNamed(name ?? (hasFault ? anyFault : undefined));
      return play(definition, parsed, [definition.name]);
    }),
  );
}

/** Its fault is given by a flag; the others take one as well. */
const anyFault = 'node-crash';

/** Throws UsageError `UNKNOWN_EXPERIMENT`, `NO_EXPERIMENT`. */
async function presetNamed(name: string | undefined): Promise<ExperimentDefinition> {
  const command = 'npx forcedetach run --help';
  const names = presetNames();
  if (name === undefined) {
    throw new UsageError('NO_EXPERIMENT', 'no experiment and no fault given', {
      hint: `name an experiment, or give --fault KIND; the experiments are ${names.join(', ')}`,
      command,
    });
  }
  if (!names.includes(name)) {
    const hint = `choose one: ${names.join(', ')}`;
    throw new UsageError('UNKNOWN_EXPERIMENT', `there is no experiment \`${name}\``, {
      ...{ hint, command },
    });
  }
  return readPreset(name);
}

const usage = (): string =>
  [
    'Usage: npx forcedetach run EXPERIMENT [flags]',
    '       npx forcedetach run --fault KIND [flags]',
    '',
    'Flags may stand before or after the name.',
    '',
    ...presetNames().map((name) => `  ${name}`),
    '',
    'run EXPERIMENT --help shows its question and its flags.',
  ].join('\n');

const schedules = 'experiments/schedules';

/** Runs the scenario of a schedule file (docs/internals/sweep.md); its flags override the file. */
export function replayCommandLine(): Command {
  const command = anyExperiment(typed('replay'), [
    ['on the model, in seconds', `${schedules}/no-grace-period-nobody-acts.yaml --cluster sim`],
    ['measured', `${schedules}/reboot-at-force-detach.yaml --cluster kind`],
    ['list the flags', `${schedules}/reboot-at-force-detach.yaml --help`],
  ])
    .description(
      'Runs the scenario of a schedule file (docs/internals/sweep.md), on kind or on the model. The\n' +
        'flags override the file. Exits with 0 if the prediction holds.',
    )
    .argument('[file]', 'schedule file');
  const flags = flagsOf(command);
  return command.action(
    exits(async (file?: string) => {
      const parsed = flags();
      if (file !== undefined) return play(await scheduleIn(file), parsed, ['replay', file]);
      if (parsed.flags.help || parsed.flags.helpAll) {
        command.outputHelp();
        return exitCode.expected;
      }
      throw new UsageError('NO_FILE', 'no schedule file given', {
        command: typed('replay', ['--help']),
      });
    }),
  );
}

export async function scheduleIn(path: string): Promise<ExperimentDefinition> {
  const { readSchedule } = await import('../../sweep/index.ts');
  const { name, question, seed, predicted, scenario } = readSchedule(path, say);
  const { fault = 'none', ...written } = writtenOf(scenario);
  return { ...written, name, question, fault, seed, expected: predicted };
}

/** `start`: the command that a replay repeats. */
async function play(
  definition: ExperimentDefinition,
  parsed: ParsedFlags,
  start: readonly [string, ...string[]],
): Promise<ExitCode> {
  const { help, helpAll } = parsed.flags;
  if (help || helpAll) {
    const [name, ...words] = start;
    tell(helpOf(typed(name, words), helpBaseOf(definition, parsed), helpAll));
    return exitCode.expected;
  }
  return carryOut(requestOf(definition, parsed, new Date(), start));
}

async function carryOut(request: RunRequest): Promise<ExitCode> {
  const { flags } = request;
  const stream = flags.json ? process.stderr : process.stdout;
  const plan = await planRun({ ...request, database: mysql, cluster: clusterOf(flags) }, true);
  const described = describeRequest(request, plan.choice, { all: flags.dryRun });
  const description = `${plainText(described)}\n`;
  if (flags.dryRun) {
    const images = await describeImages(request, plan.choice);
    stream.write(`${description}${images}dry run: nothing was created\n`);
    return exitCode.expected;
  }
  process.stderr.write(description);
  const judged = await onTerminal(plan.database, (watch) => performRun(plan, watch));
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
