/** `forcedetach COMMAND …`: what the files of experiments/ do, by name, from a checkout or from the npm package. */
import { readdirSync } from 'node:fs';
import { exitCode, UsageError } from '../../errors.ts';
import { exitCodeAfter, tell } from '../command.ts';
import { commands, isExperiment } from '../flags/typed.ts';

const experiments = new URL('../../../experiments/', import.meta.url);

/** Does what `process.argv` asks for and sets the exit code. Never throws. */
export async function forcedetach(): Promise<void> {
  let file: string | undefined;
  process.exitCode = await exitCodeAfter(() => {
    file = fileFor(process.argv.slice(2));
    return Promise.resolve(exitCode.expected);
  });
  if (file === undefined) return;
  // Each reads what follows its own name.
  const [node = '', bin = '', ...words] = process.argv;
  const rest = words.slice(words[0] === 'run' && words[1] === file ? 2 : 1);
  process.argv = [node, bin, `experiments/${file}.mjs`, ...rest];
  await import(new URL(`${file}.mjs`, experiments).href);
}

/** Undefined where the answer was told already. Throws UsageError `UNKNOWN_COMMAND`, `UNKNOWN_EXPERIMENT`. */
function fileFor([command = '--help', name = '--help']: readonly string[]): string | undefined {
  if (isHelp(command)) {
    tell(usage());
    return undefined;
  }
  if (command === 'run') {
    if (name.startsWith('--fault')) return anyFault;
    if (!isHelp(name)) return experimentNamed(name);
    tell(runUsage());
    return undefined;
  }
  const found = Object.entries(commands).find(([word]) => word === command);
  if (found !== undefined) return found[1].file;
  const isNamed = experimentNames().includes(command);
  throw new UsageError('UNKNOWN_COMMAND', `there is no command \`${command}\``, {
    hint: isNamed ? 'an experiment is started by `run`' : `choose one: ${words().join(', ')}`,
    command: isNamed ? `npx forcedetach run ${command}` : 'npx forcedetach',
  });
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
const words = (): string[] => ['run', ...Object.keys(commands)];

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
    'Usage: npx forcedetach COMMAND [words]',
    '',
    'Does what Kubernetes does after a lost node destroy the data of the database there?',
    '',
    ...inColumns([
      ['run', 'one experiment by its name'],
      ...Object.entries(commands).map(([word, { about }]) => [word, about] as const),
    ]),
    '',
    'COMMAND --help shows its flags, and examples.',
  ].join('\n');

const runUsage = (): string =>
  [
    'Usage: npx forcedetach run EXPERIMENT [flags]',
    '       npx forcedetach run --fault KIND [flags]',
    '',
    ...experimentNames().map((name) => `  ${name}`),
    '',
    'run EXPERIMENT --help shows its question and its flags.',
  ].join('\n');
