/** How commands of this project are typed, by how this process was started: hints and replays are made here. */
import { basename, relative } from 'node:path';
import { quote } from 'zx';

/** Commands of the tree that are files of experiments/ as well. */
const alsoExperiments: readonly string[] = ['matrix', 'sweep', 'replay'];

/** Commands that are started by their name alone. */
const tools: readonly string[] = [
  ...['probe', 'report', 'export', 'merge-batches', 'crash-states', 'expectations'],
  ...['doctor', 'clean', 'completion'],
];

/** Whether a file of experiments/ is one experiment, which `forcedetach run` starts by its name. */
export const isPreset = (file: string): boolean => ![...alsoExperiments, ...tools].includes(file);

const packageCommands = ['forcedetach', 'kubectl-detach_probe'];

/** The package's command that started this process, if one did. */
export function startedAs(argv: readonly string[] = process.argv): string | undefined {
  const name = basename(argv[1] ?? '', '.mjs');
  return packageCommands.includes(name) ? name : undefined;
}

/** A command of the tree, or an experiment by its name, with words behind it: paste-ready. */
export const typed = (
  name: string,
  words: readonly string[] = [],
  argv: readonly string[] = process.argv,
): string => paste([...startOf(name, startedAs(argv)), ...words]);

function startOf(name: string, starter: string | undefined): readonly string[] {
  if (name === 'probe' && starter === 'kubectl-detach_probe') return ['kubectl', 'detach-probe'];
  if (tools.includes(name)) return ['npx', 'forcedetach', name];
  if (starter === undefined) return ['npx', 'zx', `experiments/${name}.mjs`];
  return ['npx', 'forcedetach', ...(isPreset(name) ? ['run'] : []), name];
}

/**
 * A script's own arguments. Not zx's `argv`: it turns `0x1F` into 31 and drops digits of long seeds. Under
 * `npx zx experiments/zombie.mjs …` process.argv is [node, zx, experiments/zombie.mjs, …].
 */
export function scriptArguments(argv: readonly string[] = process.argv): string[] {
  const script = argv.findIndex((word, index) => index > 0 && word.endsWith('.mjs'));
  return argv.slice(startedAs(argv) === undefined && script !== -1 ? script + 1 : 2);
}

/** The command that started this process, with a flag, and its value, in place of those that were typed. */
export function typedAgain(
  words: readonly string[],
  argv: readonly string[] = process.argv,
): string {
  const [flag, ...value] = words;
  const kept = scriptArguments(argv).filter((word, index, all) => {
    const at = all.lastIndexOf(flag ?? '', index);
    return (at === -1 || index > at + value.length) && !word.startsWith(`${flag}=`);
  });
  return paste([...startWords(argv), ...kept, ...words]);
}

function startWords(argv: readonly string[]): readonly string[] {
  const starter = startedAs(argv);
  if (starter === 'kubectl-detach_probe') return ['kubectl', 'detach-probe'];
  if (starter !== undefined) return ['npx', starter];
  const script = argv.find((word, index) => index > 0 && word.endsWith('.mjs')) ?? '';
  return ['npx', 'zx', relative(process.cwd(), script)];
}

/** A command line that can be pasted, from its words. */
export const paste = (words: readonly string[]): string =>
  words.map((word) => quote(word)).join(' ');
