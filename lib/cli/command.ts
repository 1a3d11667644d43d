/** The frame of a small command: arguments in, exit code out, errors as lines. */
import { CommanderError } from 'commander';
import { describeError, exitCode, ForcedetachError, type ExitCode } from '../errors.ts';
import { scriptArguments } from './arguments.ts';

/** Runs the script named `<name>.mjs` and sets the exit code. Never throws. */
export async function runCommand(
  name: string,
  action: (args: readonly string[]) => Promise<ExitCode>,
): Promise<void> {
  try {
    process.exitCode = await action(scriptArguments(name, process.argv));
  } catch (error) {
    if (error instanceof CommanderError) {
      // It has said so already; --help is no error.
      process.exitCode = error.exitCode === 0 ? exitCode.expected : exitCode.usage;
      return;
    }
    process.stderr.write(`${describeError(error)}\n`);
    process.exitCode = error instanceof ForcedetachError ? error.exitCode : exitCode.infrastructure;
  }
}
