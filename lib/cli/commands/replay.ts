/** `experiments/replay.mjs FILE`: the scenario of a schedule file, with its seed and its prediction. */
import type { Command } from 'commander';
import { exitCode, UsageError, type ExitCode } from '../../errors.ts';
import { writtenOf } from '../../experiment/written.ts';
import { readSchedule } from '../../sweep/schedule-file.ts';
import { commandLine, parseArguments, runCommand, say } from '../command.ts';
import { runExperiment } from './experiment.ts';

/** Command for its own help alone: what follows the file is parsed as an experiment's. */
export const replayCommand = (): Command =>
  commandLine('npx zx experiments/replay.mjs', [
    [
      'on the model, in seconds',
      'experiments/schedules/no-grace-period-nobody-acts.yaml --cluster sim',
    ],
    ['measured', 'experiments/schedules/reboot-at-force-detach.yaml --cluster kind'],
    ['list the flags', 'experiments/schedules/reboot-at-force-detach.yaml --help'],
  ])
    .usage('FILE [flags]')
    .description(
      'Runs the scenario of a schedule file (docs/internals/sweep.md), on kind or on the model. The ' +
        'flags are those of every experiment and override the file; exit code 0 if ' +
        'the prediction holds.',
    );

/** Runs what `process.argv` asks for and sets the exit code. Never throws. */
export const replaySchedule = (): Promise<void> =>
  runCommand('replay', async ([file = '', ...args]): Promise<ExitCode> => {
    if (/^(-h|--help|-V|--version)$/.test(file)) parseArguments(replayCommand(), [file]);
    if (file === '' || file.startsWith('-')) {
      throw new UsageError('NO_FILE', 'no schedule file given: it comes first, then the flags', {
        command: 'npx zx experiments/replay.mjs --help',
      });
    }
    const { name, question, seed, predicted, scenario } = readSchedule(file, say);
    const { fault = 'none', ...written } = writtenOf(scenario);
    const script = ['experiments/replay.mjs', file];
    await runExperiment(
      { ...written, name, question, fault, seed, script, expected: predicted },
      args,
    );
    return Number(process.exitCode ?? exitCode.expected) as ExitCode;
  });
