/** `forcedetach completion SHELL`: a script that completes commands, experiments, flags and their values. */
import { Help, type Command, type Option } from 'commander';
import { completeScenario } from '../../experiment/scenario.ts';
import { exitCode, type ExitCode } from '../../errors.ts';
import { commandLine, parseArguments, tell } from '../command.ts';
import { commands } from '../flags/typed.ts';

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

const builders: Readonly<Record<keyof typeof commands, () => Promise<Command>>> = {
  matrix: async () => (await import('../flags/matrix-flags.ts')).matrixCommand(),
  'merge-batches': async () => (await import('./merge-batches.ts')).mergeCommand(),
  sweep: async () => (await import('../flags/sweep-flags.ts')).sweepCommand(),
  replay: anyExperiment,
  report: async () => (await import('./report.ts')).reportCommand(),
  export: async () => (await import('./export.ts')).exportCommand(),
  probe: async () => (await import('../flags/probe-flags.ts')).probeCommand(),
  doctor: async () => (await import('./doctor.ts')).doctorCommand(),
  clean: async () => (await import('./clean.ts')).cleanCommand(),
  'crash-states': async () => (await import('./crash-states.ts')).crashStatesCommand(),
};

/** It has the flags of every kind; its own experiment gives them other defaults only. */
export async function anyExperiment(): Promise<Command> {
  const { experimentCommand } = await import('../flags/flags.ts');
  const about = { name: 'any', question: 'What is to be run?' };
  return experimentCommand(
    completeScenario({ ...about, fault: 'node-crash', expected: ['safe'] }),
    [],
  );
}

const shells = { bash: inBash, zsh: inZsh, fish: inFish } as const;

const completionCommand = (): Command =>
  commandLine('npx forcedetach completion', [
    ['for this bash; put the line into ~/.bashrc to keep it', 'bash > /tmp/forcedetach.bash'],
    ['for zsh: a folder of $fpath', 'zsh > ~/.zfunc/_forcedetach'],
    ['for fish', 'fish > ~/.config/fish/completions/forcedetach.fish'],
  ])
    .description(
      'Prints a script that completes `forcedetach`. Where it is no command of its own, add\n' +
        "alias forcedetach='npx forcedetach'",
    )
    .argument('<shell>', Object.keys(shells).join(', '));

/** `experiments`: what `run` starts. Throws UsageError `BAD_FLAG` for another shell. */
export async function completion(
  args: readonly string[],
  experiments: readonly string[],
): Promise<ExitCode> {
  const command = completionCommand();
  const [argument] = command.registeredArguments;
  argument?.choices(Object.keys(shells));
  const [shell] = parseArguments(command, args).args;
  tell(shells[shell as keyof typeof shells](await completedCommands(experiments)));
  return exitCode.expected;
}

async function completedCommands(experiments: readonly string[]): Promise<Completed[]> {
  // Not the command's own help: that leaves out flags of kinds that are not chosen yet.
  const optionsOf = (command: Command): Option[] => new Help().visibleOptions(command);
  const run = await anyExperiment();
  const named = Object.entries(commands).map(async ([name, { about }]): Promise<Completed> => {
    const command = await builders[name as keyof typeof commands]();
    return { name, about, words: [], options: optionsOf(command) };
  });
  return [
    {
      ...{ name: 'run', about: 'runs one experiment by its name', options: optionsOf(run) },
      words: experiments.map((word) => [word, 'experiment'] as const),
    },
    ...(await Promise.all(named)),
    {
      ...{
        name: 'completion',
        about: 'prints a completion script for bash, zsh or fish',
        options: [],
      },
      words: Object.keys(shells).map((word) => [word, 'shell'] as const),
    },
  ];
}

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
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} offers=''
  # Bash splits --flag=value at the equals sign.
  [[ $current == = ]] && current=''
  [[ $before == = ]] && before=\${COMP_WORDS[COMP_CWORD-2]}
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
  COMPREPLY=($(compgen -W "$offers" -- "$current"))
}
complete -o default -F _forcedetach forcedetach`;
}

function inZsh(all: readonly Completed[]): string {
  const list = (offers: readonly Offer[]): string =>
    `(${offers.map(([word, about]) => quoted(`${word}:${about.replaceAll('\n', ' ')}`)).join(' ')})`;
  const values = all.flatMap(valuedFlags).map(({ typed, choices }) => {
    const offer =
      choices.length === 0 ? '_files' : `offers=(${choices.join(' ')}); _describe value offers`;
    return `    ${typed.map(quoted).join('|')}) ${offer}; return ;;`;
  });
  const commandsIn = all.map(({ name, words: own, options }) => {
    const flags = options.map(
      ({ short, long, description }) => [long ?? short ?? '', description] as const,
    );
    return `    ${quoted(name)}) flags=${list(flags)} offers=${list(own)} ;;`;
  });
  return `#compdef forcedetach
_forcedetach() {
  local -a offers flags
  local before=$words[CURRENT-1]
  if (( CURRENT == 2 )); then
    offers=${list(topOffers(all))}
    _describe command offers
    return
  fi
  if [[ $words[CURRENT] == --*=* ]]; then
    before=\${words[CURRENT]%%=*}
    compset -P '*='
  fi
  case "$words[2] $before" in
${values.join('\n')}
  esac
  case "$words[2]" in
${commandsIn.join('\n')}
  esac
  if [[ $words[CURRENT] == -* ]]; then _describe -o flag flags
  elif (( $#offers )); then _describe word offers
  else _files
  fi
}
compdef _forcedetach forcedetach
[[ $funcstack[1] == _forcedetach ]] && _forcedetach "$@"`;
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
