/** `forcedetach COMMAND …`: what the files of experiments/ do, by name, from a checkout or from the npm package. */
import { readdirSync } from 'node:fs';
import { exitCode, UsageError } from '../../errors.ts';
import { projectVersion } from '../../project-version.ts';
import { exitCodeAfter, tell } from '../command.ts';
import { anyExperiment, completion } from './completion.ts';
import { commands, isExperiment } from '../flags/typed.ts';

const experiments = new URL('../../../experiments/', import.meta.url);

/** A file of experiments/, and the words that it reads. */
interface CommandStart {
  readonly file: string;
  readonly words: readonly string[];
}

/** Does what `process.argv` asks for and sets the exit code. Never throws. */
export async function forcedetach(): Promise<void> {
  const [node = '', bin = '', ...typed] = process.argv;
  let start: CommandStart | undefined;
  process.exitCode = await exitCodeAfter(async () => {
    start = await startFor(typed);
    return exitCode.expected;
  });
  if (start === undefined) return;
  // Each reads what follows its own name.
  process.argv = [node, bin, `experiments/${start.file}.mjs`, ...start.words];
  await import(new URL(`${start.file}.mjs`, experiments).href);
}

/**
 * Undefined where the answer was told already. Throws UsageError `UNKNOWN_COMMAND`, `UNKNOWN_EXPERIMENT`,
 * `NO_EXPERIMENT`.
 */
async function startFor([command = '--help', ...words]: readonly string[]): Promise<
  CommandStart | undefined
> {
  if (isHelp(command)) {
    tell(usage());
    return undefined;
  }
  if (isVersion(command)) {
    tell(projectVersion);
    return undefined;
  }
  if (command === 'run') return runFor(words);
  if (command === 'completion') {
    await completion(words, experimentNames());
    return undefined;
  }
  const found = Object.entries(commands).find(([word]) => word === command);
  if (found !== undefined) return { file: found[1].file, words };
  const isNamed = experimentNames().includes(command);
  throw new UsageError('UNKNOWN_COMMAND', `there is no command \`${command}\``, {
    hint: isNamed ? '`run` starts an experiment' : `choose one: ${allWords().join(', ')}`,
    command: isNamed ? `npx forcedetach run ${command}` : 'npx forcedetach',
  });
}

const isVersion = (word: string): boolean => ['--version', '-V', 'version'].includes(word);

/** The experiment that is named among the flags, or the one whose fault a flag gives. */
async function runFor(words: readonly string[]): Promise<CommandStart | undefined> {
  const at = await nameAt(words);
  const name = words[at];
  if (words.length === 0 || (name !== undefined && isHelp(name))) {
    tell(runUsage());
    return undefined;
  }
  if (name !== undefined) return { file: experimentNamed(name), words: words.toSpliced(at, 1) };
  if (words.some((word) => /^--fault(=|$)/.test(word))) return { file: anyFault, words };
  if (words.some(isHelp)) {
    tell(runUsage());
    return undefined;
  }
  if (words.some(isVersion)) {
    tell(projectVersion);
    return undefined;
  }
  throw new UsageError('NO_EXPERIMENT', 'no experiment and no fault given', {
    hint: `name an experiment, or give --fault KIND; the experiments are ${experimentNames().join(', ')}`,
    command: 'npx forcedetach run --help',
  });
}

/** The first word that is neither a flag nor the value of one; behind the last where there is none. */
async function nameAt(words: readonly string[]): Promise<number> {
  const { options } = await anyExperiment();
  const takesValue = (word: string): boolean =>
    options.some(({ long, required }) => long === word && required);
  let at = 0;
  for (let word = words[0]; word?.startsWith('-'); word = words[at]) at += takesValue(word) ? 2 : 1;
  return at;
}

function experimentNamed(name: string): string {
  if (experimentNames().includes(name)) return name;
  throw new UsageError('UNKNOWN_EXPERIMENT', `there is no experiment \`${name}\``, {
    hint: `choose one: ${experimentNames().join(', ')}`,
    command: 'npx forcedetach run --help',
  });
}

/** Whose fault is given by a flag; the others take one as well. */
const anyFault = 'node-crash';

const isHelp = (word: string): boolean => ['--help', '-h', 'help'].includes(word);
const allWords = (): string[] => ['run', ...Object.keys(commands), 'completion'];

const experimentNames = (): string[] =>
  readdirSync(experiments)
    .filter((file) => file.endsWith('.mjs'))
    .map((file) => file.slice(0, -'.mjs'.length))
    .filter((file) => isExperiment(file))
    .toSorted();

const inColumns = (rows: readonly (readonly [string, string])[]): string[] => {
  const width = Math.max(...rows.map(([word]) => word.length));
  return rows.map(([word, about]) => `  ${word.padEnd(width)}  ${about}`);
};

const usage = (): string =>
  [
    'Usage: npx forcedetach COMMAND [arguments]',
    '',
    'Does what Kubernetes does after a lost node destroy the data of the database there?',
    '',
    ...inColumns([
      ['run', 'runs one experiment by its name'],
      ...Object.entries(commands).map(([word, { about }]) => [word, about] as const),
      ['completion', 'prints a completion script for bash, zsh or fish'],
    ]),
    '',
    'COMMAND --help shows its flags and examples; --version shows the version.',
  ].join('\n');

const runUsage = (): string =>
  [
    'Usage: npx forcedetach run EXPERIMENT [flags]',
    '       npx forcedetach run --fault KIND [flags]',
    '',
    'Flags may stand before or after the name.',
    '',
    ...experimentNames().map((name) => `  ${name}`),
    '',
    'run EXPERIMENT --help shows its question and its flags.',
  ].join('\n');
