/** How commands are typed: as files under zx, or as words of the package's command, as this one was. */
import { basename, relative } from 'node:path';
import { quote } from 'zx';

/** Words of the package's command, and the file of experiments/ that each starts. */
export const commands = {
  matrix: { file: 'matrix', about: 'runs every cell of a matrix, with controls and repeats' },
  'merge-batches': { file: 'merge-batches', about: 'merges several batches of one matrix' },
  sweep: { file: 'sweep', about: 'plays thousands of schedules on the model' },
  replay: { file: 'replay', about: 'runs a schedule that a sweep found' },
  report: { file: 'report', about: 'rebuilds the pages of a run or a batch' },
  export: { file: 'export', about: 'exports a history for other checkers' },
  probe: { file: 'probe', about: 'tests what your StorageClass does at a forced detach' },
  doctor: { file: 'doctor', about: 'checks whether this machine can measure' },
  clean: { file: 'clean', about: 'removes what killed runs left behind' },
  'crash-states': { file: 'crash-states', about: 'examines the states that a crash could leave' },
} as const satisfies Readonly<Record<string, { readonly file: string; readonly about: string }>>;

/** Writes this project's own pages: no command. */
const ofPages = 'expectations';

/** Whether a file of experiments/ is one experiment, which `run` starts by its name. */
export const isExperiment = (file: string): boolean =>
  file !== ofPages && !Object.values(commands).some((command) => command.file === file);

const packageCommands = ['forcedetach', 'kubectl-detach_probe'];

/** By which this process was started, of the package's commands. */
const commandOf = (argv: readonly string[]): string => basename(argv[1] ?? '', '.mjs');

/** A text with commands to paste, as they are typed by whom this process was. */
export function asTyped(text: string, argv: readonly string[] = process.argv): string {
  if (commandOf(argv) === 'kubectl-detach_probe') {
    return text.replaceAll('npx zx experiments/probe.mjs', 'kubectl detach-probe');
  }
  if (commandOf(argv) !== 'forcedetach') return text;
  return text.replaceAll(/npx zx experiments\/([a-z-]+)\.mjs/g, (typed, file: string) => {
    const found = Object.entries(commands).find(([, command]) => command.file === file);
    if (found !== undefined) return `npx forcedetach ${found[0]}`;
    return isExperiment(file) ? `npx forcedetach run ${file}` : typed;
  });
}

/**
 * A script's own arguments. Not zx's `argv`: it turns `0x1F` into 31 and drops digits of long seeds. Under
 * `npx zx experiments/doctor.mjs …` process.argv is [node, zx, doctor.mjs, …]. What follows the script named
 * `<name>.mjs`; everything after the first element without one.
 */
export function scriptArguments(name: string, argv: readonly string[]): string[] {
  const index = argv.findIndex((each) => basename(each, '.mjs') === name);
  return argv.slice(index === -1 ? 2 : index + 1);
}

/** The command that started this process, with a flag, and its value, in place of those that were typed. */
export function typedAgain(
  words: readonly string[],
  argv: readonly string[] = process.argv,
): string {
  const [flag, ...value] = words;
  const kept = wordsOf(argv).filter((word, index, all) => {
    const at = all.lastIndexOf(flag ?? '', index);
    return (at === -1 || index > at + value.length) && !word.startsWith(`${flag}=`);
  });
  return paste(['npx', 'zx', ...kept, ...words]);
}

/** From the script on. Plain node has it where zx and the package's commands have themselves. */
function wordsOf(argv: readonly string[]): readonly string[] {
  const [, script = '', ...words] = argv;
  const isStarter = !script.endsWith('.mjs') || packageCommands.includes(commandOf(argv));
  return isStarter ? words : [relative(process.cwd(), script), ...words];
}

/** A command line that can be pasted, from its words. */
export const paste = (words: readonly string[]): string =>
  asTyped(words.map((word) => quote(word)).join(' '));
