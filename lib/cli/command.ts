/** The frame of every command: arguments in, exit code out, errors in one form. */
import { Command, CommanderError } from 'commander';
import {
  describeError,
  exitCode,
  ForcedetachError,
  InfrastructureError,
  UsageError,
  type ExitCode,
} from '../errors.ts';
import { plainText } from '../plain-text.ts';
import { projectVersion } from '../project-version.ts';
import { scriptArguments, asTyped, typedAgain } from './flags/typed.ts';

/** Runs the script named `<name>.mjs` and sets the exit code. Never throws. */
export async function runCommand(
  name: string,
  action: (args: readonly string[]) => Promise<ExitCode>,
): Promise<void> {
  process.exitCode = await exitCodeAfter(() => action(scriptArguments(name, process.argv)));
}

/** The exit code of `action`; its errors go to stderr. Never throws. */
export async function exitCodeAfter(action: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await action();
  } catch (error) {
    // Help or version: it was printed.
    if (error instanceof CommanderError && error.exitCode === 0) return exitCode.expected;
    const told = toldAs(error);
    process.stderr.write(`${asTyped(describeError(told))}\n`);
    if (told instanceof ForcedetachError && told.again !== undefined) {
      process.stderr.write(`  try:  ${typedAgain(told.again)}\n`);
    }
    // A bug: its stack shows where it is.
    if (!(told instanceof ForcedetachError) && told instanceof Error) {
      process.stderr.write(`${plainText(told.stack ?? '')}\n`);
    }
    return told instanceof ForcedetachError ? told.exitCode : exitCode.infrastructure;
  }
}

/** What a file system or the machine says is no bug: it has a code and needs no stack. */
function toldAs(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ForcedetachError) return error;
  if (!('syscall' in error) || !('code' in error)) return error;
  const code = String(error.code);
  // Its message begins with the code as well.
  const message = error.message.replace(`${code}: `, '');
  return new InfrastructureError(code, message, { cause: error.cause });
}

/** What somebody may want, and the words behind the command that do it. */
export type CommandExample = readonly [wanted: string, words: string];

/** A command line whose errors are ours: `typed` is how it is called. Its help ends with the examples. */
export const commandLine = (typed: string, examples: readonly CommandExample[]): Command =>
  new Command(asTyped(typed))
    .helpOption('-h, --help', 'show this')
    .version(projectVersion, '-V, --version', 'show the version')
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .addHelpText('after', asTyped(`\nExamples:\n${examples.map(shownFor(typed)).join('\n')}`));

const shownFor =
  (typed: string) =>
  ([wanted, words]: CommandExample): string =>
    `  # ${wanted}\n  ${typed} ${words}`.trimEnd();

/** The command, parsed. Throws UsageError `BAD_FLAG`, and a CommanderError with exit code 0 where help was printed. */
export function parseArguments(command: Command, args: readonly string[]): Command {
  try {
    return command.parse([...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError) || error.exitCode === 0) throw error;
    // Without a subcommand the help is what was printed.
    const message = error.code === 'commander.help' ? 'no subcommand given' : error.message;
    throw new UsageError('BAD_FLAG', message.replace(/^error: /, ''), {
      hint: '--help lists the flags and their defaults',
      command: `${command.name()} --help`,
    });
  }
}

/** A line on stdout; what it holds of files is printed, never obeyed. */
export const tell = (text: string): void =>
  void process.stdout.write(`${asTyped(plainText(text))}\n`);

/** The same on stderr. */
export const say = (text: string): void =>
  void process.stderr.write(`${asTyped(plainText(text))}\n`);
