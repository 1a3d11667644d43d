/** `forcedetach completion SHELL`: a script that completes commands, experiments, flags and their values. */
import { Argument, Help, type Command, type Option } from 'commander';
import { exitCode, typed } from '../../core/index.ts';
import { commandLine, exits } from '../command.ts';
import { presetNames } from './experiment.ts';

/** A word that the shell offers, and what it is. */
type Offer = readonly [word: string, about: string];

/** A command: what stands behind its name. */
interface Completed {
  readonly name: string;
  readonly about: string;
  /** Instead of a file. */
  readonly words: readonly Offer[];
  readonly options: readonly Option[];
}

const shells = { bash: inBash, zsh: inZsh, fish: inFish } as const;
type Shell = keyof typeof shells;

/** `tree`: all other commands. */
export const completion = (tree: () => Promise<readonly NamedCommand[]>): Command =>
  commandLine(typed('completion'), [
    ['for this bash; put the line into ~/.bashrc to keep it', 'bash > /tmp/forcedetach.bash'],
    ['for zsh: a line of ~/.zshrc reads it', 'zsh > ~/.forcedetach.zsh'],
    ['for fish', 'fish > ~/.config/fish/completions/forcedetach.fish'],
  ])
    .description(
      'Prints a script that completes `forcedetach`. Where it is no command of its own, add\n' +
        "alias forcedetach='npx forcedetach'",
    )
    .addArgument(
      new Argument('<shell>', Object.keys(shells).join(', ')).choices(Object.keys(shells)),
    )
    .action(
      exits(async (shell: Shell) => {
        const own = { name: 'completion', about: 'prints a completion script', options: [] };
        const words = Object.keys(shells).map((word): Offer => [word, 'shell']);
        const others = (await tree()).map(completed);
        process.stdout.write(`${shells[shell]([...others, { ...own, words }])}\n`);
        return exitCode.expected;
      }),
    );

export interface NamedCommand {
  readonly name: string;
  readonly about: string;
  readonly command: Command;
}

const completed = ({ name, about, command }: NamedCommand): Completed => ({
  ...{ name, about },
  options: new Help().visibleOptions(command),
  words: name === 'run' ? presetNames().map((word): Offer => [word, 'experiment']) : [],
});

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
const flagsOf = ({ options }: Completed): string[] =>
  options.flatMap(({ short, long }) => [short ?? [], long ?? []].flat());
const topOffers = (all: readonly Completed[]): Offer[] => [
  ...all.map(({ name, about }) => [name, about] as const),
  ['--help', 'show this'],
  ['--version', 'show the version'],
];

/** Flags with a value, by what is offered for it: its choices, or files. */
function valuedFlags({ name, options }: Completed): { typed: string[]; choices: string[] }[] {
  const valued = options.filter(({ required, optional }) => required || optional);
  return valued.map(({ short, long, argChoices = [] }) => ({
    typed: [short ?? [], long ?? []].flat().map((flag) => `${name} ${flag}`),
    choices: [...argChoices],
  }));
}

function inBash(all: readonly Completed[]): string {
  const values = all
    .flatMap(valuedFlags)
    .map(
      ({ typed, choices }) =>
        `    ${typed.map(quoted).join('|')}) offers=${quoted(choices.join(' '))} ;;`,
    );
  const words = all.map(({ name, words: own, ...command }) => {
    const flags = flagsOf({ name, words: own, ...command });
    const offers = own.map(([word]) => word);
    return `    ${quoted(name)}' -'*) offers=${quoted(flags.join(' '))} ;;\n    ${quoted(name)}*) offers=${quoted(offers.join(' '))} ;;`;
  });
  return `# Completes forcedetach in bash.
_forcedetach() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} offers='' front=''
  # Bash splits --flag=value at the equals sign, zsh does not.
  [[ $current == = ]] && current=''
  [[ $before == = ]] && before=\${COMP_WORDS[COMP_CWORD-2]}
  if [[ $current == --*=* ]]; then
    front=\${current%%=*}= before=\${current%%=*} current=\${current#*=}
  fi
  if ((COMP_CWORD == 1)); then
    offers=${quoted(
      topOffers(all)
        .map(([word]) => word)
        .join(' '),
    )}
  else
    case "\${COMP_WORDS[1]} $before" in
${values.map((line) => `  ${line}`).join('\n')}
      *) case "\${COMP_WORDS[1]} $current" in
${words.map((line) => line.replaceAll(/^/gm, '  ')).join('\n')}
      esac ;;
    esac
  fi
  COMPREPLY=($(compgen -P "$front" -W "$offers" -- "$current"))
}
complete -o default -F _forcedetach forcedetach`;
}

/** Zsh runs completions of bash. */
function inZsh(all: readonly Completed[]): string {
  return `autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n${inBash(all)}`;
}

function inFish(all: readonly Completed[]): string {
  const line = (condition: string, ...rest: readonly string[]): string =>
    ['complete -c forcedetach -n', quoted(condition), ...rest].join(' ');
  const top = topOffers(all).map(([word, about]) =>
    line('__fish_use_subcommand', '-f -a', word, '-d', quoted(about)),
  );
  const lines = all.flatMap(({ name, words: own, options }) => {
    const within = `__fish_seen_subcommand_from ${name}`;
    const offered = own.map(([word, about]) => line(within, '-f -a', word, '-d', quoted(about)));
    const flags = options.map(({ short, long, description, required, optional, argChoices }) =>
      line(
        within,
        ...(short === undefined ? [] : ['-s', short.slice(1)]),
        ...(long === undefined ? [] : ['-l', long.slice(2)]),
        ...(argChoices === undefined ? [] : ['-x -a', quoted(argChoices.join(' '))]),
        ...(argChoices === undefined && (required || optional) ? ['-r'] : []),
        ...['-d', quoted(description.replaceAll('\n', ' '))],
      ),
    );
    return [...offered, ...flags];
  });
  return ['# Completes forcedetach in fish.', ...top, ...lines].join('\n');
}
