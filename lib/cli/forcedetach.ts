/** `forcedetach COMMAND …`: the one tree of commands. Each is imported when it is wanted: help answers at once. */
import type { Command } from 'commander';
import { UsageError, type ExitCode } from '../core/index.ts';
import type { NamedCommand } from './commands/completion.ts';
import { commandLine, exitCodeAfter, perform } from './command.ts';

interface Leaf {
  readonly about: string;
  readonly load: () => Promise<Command>;
}

export const commands: Readonly<Record<string, Leaf>> = {
  run: {
    about: 'runs one experiment by its name',
    load: async () => (await import('./commands/experiment.ts')).runCommandLine(),
  },
  matrix: {
    about: 'runs every cell of a matrix, with controls and repeats',
    load: async () => (await import('./commands/matrix.ts')).matrix(),
  },
  'merge-batches': {
    about: 'merges several batches of one matrix',
    load: async () => (await import('./commands/batch.ts')).mergeBatches(),
  },
  sweep: {
    about: 'plays thousands of schedules on the model',
    load: async () => (await import('./commands/sweep.ts')).sweepCommandLine(),
  },
  replay: {
    about: 'runs a schedule that a sweep found',
    load: async () => (await import('./commands/experiment.ts')).replayCommandLine(),
  },
  report: {
    about: 'rebuilds the pages of a run or a batch',
    load: async () => (await import('./commands/report.ts')).report(),
  },
  export: {
    about: 'exports a history for other checkers',
    load: async () => (await import('./commands/export.ts')).exportRuns(),
  },
  probe: {
    about: 'tests what your StorageClass does at a forced detach',
    load: async () => (await import('./commands/probe.ts')).probe(),
  },
  risk: {
    about: 'reads whether a lost node can destroy a database there',
    load: async () => (await import('./commands/risk.ts')).risk(),
  },
  inspect: {
    about: 'answers from the records of an incident whether two nodes could write',
    load: async () => (await import('./commands/inspect.ts')).inspect(),
  },
  doctor: {
    about: 'checks whether this machine can measure',
    load: async () => (await import('./commands/doctor.ts')).doctor(),
  },
  clean: {
    about: 'removes what killed runs left behind',
    load: async () => (await import('./commands/clean.ts')).clean(),
  },
  'crash-states': {
    about: 'examines the states that a crash could leave',
    load: async () => (await import('./commands/crash-states.ts')).crashStates(),
  },
  expectations: {
    about: 'counts real runs for the pages of results',
    load: async () => (await import('./commands/expectations.ts')).expectations(),
  },
  completion: {
    about: 'prints a completion script for bash, zsh or fish',
    load: async () => (await import('./commands/completion.ts')).completion(others),
  },
};

/** All but the one that completes them. */
const others = (): Promise<NamedCommand[]> =>
  Promise.all(
    Object.entries(commands)
      .filter(([name]) => name !== 'completion')
      .map(async ([name, { about, load }]) => ({ name, about, command: await load() })),
  );

/** Does what the words say and sets the exit code. Never throws. */
export async function forcedetach(words: readonly string[]): Promise<void> {
  process.exitCode = await exitCodeAfter(() => performWords(words));
}

async function performWords([name = 'help', ...words]: readonly string[]): Promise<ExitCode> {
  const leaf = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (leaf !== undefined) return perform(await leaf.load(), words);
  if (name.startsWith('-')) return perform(tree(), [name, ...words]);
  if (['help', 'version'].includes(name)) return perform(tree(), [`--${name}`]);
  const { presetNames } = await import('./commands/experiment.ts');
  const isExperiment = presetNames().includes(name);
  throw new UsageError('UNKNOWN_COMMAND', `there is no command \`${name}\``, {
    hint: isExperiment
      ? '`run` starts an experiment'
      : `choose one: ${Object.keys(commands).join(', ')}`,
    command: isExperiment ? `npx forcedetach run ${name}` : 'npx forcedetach',
  });
}

/** What the command answers by itself: its help, and its version. */
function tree(): Command {
  const root = commandLine('npx forcedetach', [])
    .usage('COMMAND [arguments]')
    .helpCommand(false)
    .description(
      'Does what Kubernetes does after a lost node destroy the data of the database there?',
    );
  for (const [name, { about }] of Object.entries(commands)) {
    root.command(name).usage(' ').description(about).helpOption(false);
  }
  return root.addHelpText('after', '\nCOMMAND --help shows its flags and examples.');
}
