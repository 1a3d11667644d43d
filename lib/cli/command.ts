/** The frame of every command: arguments in, exit code out, errors in one form. */
import { type Argument, Command, CommanderError, Help, type Option } from 'commander';
import {
  describeError,
  exitCode,
  ForcedetachError,
  InfrastructureError,
  UsageError,
  type ExitCode,
  plainText,
  projectVersion,
  scriptArguments,
  typedAgain,
} from '../core/index.ts';

/** Runs a script with its own arguments and sets the exit code. Never throws. */
export async function runCommand(
  action: (args: readonly string[]) => Promise<ExitCode>,
): Promise<void> {
  process.exitCode = await exitCodeAfter(() => action(scriptArguments()));
}

/** An action of a command, whose exit code is the process's. */
export const exits =
  <Words extends readonly unknown[]>(action: (...words: Words) => Promise<ExitCode>) =>
  async (...words: Words): Promise<void> =>
    void (process.exitCode = await action(...words));

/** The exit code of `action`; its errors go to stderr. Never throws. */
export async function exitCodeAfter(action: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await action();
  } catch (error) {
    // Help or version: it was printed.
    if (error instanceof CommanderError && error.exitCode === 0) return exitCode.expected;
    const shown = withCode(error);
    process.stderr.write(`${describeError(shown)}\n`);
    if (shown instanceof ForcedetachError && shown.again !== undefined) {
      process.stderr.write(`  try:  ${typedAgain(shown.again)}\n`);
    }
    // A bug: its stack shows where it is.
    if (!(shown instanceof ForcedetachError) && shown instanceof Error) {
      process.stderr.write(`${plainText(shown.stack ?? '')}\n`);
    }
    return shown instanceof ForcedetachError ? shown.exitCode : exitCode.infrastructure;
  }
}

/** An error of the file system or the machine is no bug: it has a code and needs no stack. */
function withCode(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ForcedetachError) return error;
  if (!('syscall' in error) || !('code' in error)) return error;
  const code = String(error.code);
  // Its message begins with the code as well.
  const message = error.message.replace(`${code}: `, '');
  return new InfrastructureError(code, message, { cause: error.cause });
}

/** A task, and the words behind the command that do it. */
export type CommandExample = readonly [task: string, words: string];

/** A command line whose errors are ours: `name` is how it is typed. Its help ends with the examples. */
export function commandLine(name: string, examples: readonly CommandExample[]): Command {
  const command = new Command(name)
    .helpOption('-h, --help', 'show this')
    .version(projectVersion, '-V, --version', 'show the version')
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .configureHelp({
      optionDescription: (option) => Help.prototype.optionDescription(typedDefault(option)),
      argumentDescription: (argument) => Help.prototype.argumentDescription(typedDefault(argument)),
    });
  if (examples.length === 0) return command;
  return command.addHelpText('after', `\nExamples:\n${examples.map(shownFor(name)).join('\n')}`);
}

/** A list is shown as it is typed, not as JSON. */
function typedDefault<Described extends Option | Argument>(described: Described): Described {
  const { defaultValue } = described as { readonly defaultValue?: unknown };
  if (Array.isArray(defaultValue)) described.defaultValueDescription ??= defaultValue.join();
  return described;
}

const shownFor =
  (name: string) =>
  ([task, words]: CommandExample): string =>
    `  # ${task}\n  ${name} ${words}`.trimEnd();

/** The command, parsed. Throws UsageError `BAD_FLAG`, and a CommanderError with exit code 0 where help was printed. */
export function parseArguments(command: Command, args: readonly string[]): Command {
  try {
    return command.parse([...args], { from: 'user' });
  } catch (error) {
    throw asUsage(error, command);
  }
}

/** Parses, then does what the command does. Throws as `parseArguments` and its action. */
export async function perform(command: Command, args: readonly string[]): Promise<ExitCode> {
  try {
    await command.parseAsync([...args], { from: 'user' });
    return Number(process.exitCode ?? exitCode.expected) as ExitCode;
  } catch (error) {
    throw asUsage(error, command);
  }
}

function asUsage(error: unknown, command: Command): unknown {
  if (!(error instanceof CommanderError) || error.exitCode === 0) return error;
  // Without a subcommand the help is what was printed.
  const message = error.code === 'commander.help' ? 'no subcommand given' : error.message;
  return new UsageError('BAD_FLAG', message.replace(/^error: /, ''), {
    hint: '--help lists the flags and their defaults',
    command: `${command.name()} --help`,
  });
}

/** A line on stdout; control characters from files are not obeyed. */
export const tell = (text: string): void => void process.stdout.write(`${plainText(text)}\n`);

/** The same on stderr. */
export const say = (text: string): void => void process.stderr.write(`${plainText(text)}\n`);
