/** `experiments/replay.mjs FILE`: the scenario of a schedule file, with its seed and its prediction. */
import { exitCode, UsageError, type ExitCode } from '../../errors.ts';
import { writtenOf } from '../../experiment/written.ts';
import { readSchedule } from '../../sweep/schedule-file.ts';
import { runCommand, say, tell } from '../command.ts';
import { runExperiment } from './experiment.ts';

const usage = `Usage: npx zx experiments/replay.mjs FILE [flags]

Runs the scenario of a schedule file (docs/internals/sweep.md), on kind or on the model. The flags are those
of every experiment and go before what the file says; exit code 0 where the prediction came true.
Give a FILE and --help to see them.
`;

/** Runs what `process.argv` asks for and sets the exit code. Never throws. */
export const replaySchedule = (): Promise<void> =>
  runCommand('replay', async ([file = '', ...args]): Promise<ExitCode> => {
    if (file === '--help' || file === '-h') {
      tell(usage.trimEnd());
      return exitCode.expected;
    }
    if (file === '' || file.startsWith('-')) {
      throw new UsageError('NO_FILE', 'give the schedule file first, then the flags', {
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
