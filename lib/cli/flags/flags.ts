/** The one set of flags that every experiment takes. Defaults come from the scenario's schema. */
import { Option, type Command } from 'commander';
import {
  type DatabaseKind,
  type Field,
  type FieldName,
  type Scenario,
  type Settings,
  completeScenario,
  contradictions,
  fieldNames,
  fields,
  goesWith,
  isKept,
  kindsInWords,
  takenOf,
  settableNames,
  valueAt,
  withValues,
  settingsFrom,
} from '../../scenario/index.ts';
import { commandLine, type CommandExample } from '../command.ts';
import { failOnOption, type FailWord } from '../fail-on.ts';
import {
  clusterWords,
  initiatorWords,
  type BackendSize,
  type BackendWish,
} from '../library/backend.ts';
import type { BackendChoice } from '../library/run-plan.ts';
import {
  argumentOf,
  clusterName,
  nonEmpty,
  oneOf,
  registry,
  seedText,
  workerCount,
  workersWords,
} from './flag-values.ts';

/** Groups of fields under the headings of the help. */
const headings: readonly (readonly [string, readonly string[]])[] = [
  ['Fault', ['fault', 'also']],
  ['Remedy', ['remedy']],
  ['Disk', ['disk', 'volume']],
  ['Pod', ['workload', 'selfFence']],
  ['Database', ['load', 'database']],
  ['Kubernetes', ['kubernetes']],
  ['Timers', ['timers', 'watch']],
];

type Groups = readonly (readonly [string, readonly Option[]])[];

/** By what they are about. `base` has the defaults. */
export const optionGroups = (base: Scenario): Groups => [
  ['Where', whereOptions()],
  ...headings.map(([heading, within]) => {
    const names = within.flatMap((group) =>
      settableNames.filter((name) => name.startsWith(`${group}.`)),
    );
    return [heading, names.map((name) => scenarioOption(name, base))] as const;
  }),
  ['Disk by a certificate', certificateOptions()],
  ['Output', outputOptions()],
];

function scenarioOption(name: FieldName, base: Scenario): Option {
  const only = kindsInWords(name);
  // That it takes a remedy or a second fault at all goes without saying.
  const more = only === undefined || / (none|off)$/.test(only) ? '' : `; ${only}`;
  const option = optionOf(fields[name], valueAt(base, name), more);
  const taken = takenOf(base, name);
  return taken === undefined ? option : option.choices(taken);
}

/** Throws TypeError of a field that has no flag. `more` stands behind what the field says of itself. */
export function optionOf(
  { at, flags, choices, text, about, show }: Field,
  value: unknown,
  more = '',
): Option {
  if (flags === undefined) throw new TypeError(`${at} has no flag`);
  const option = new Option(flags, `${about}${more}`);
  if (choices !== undefined) option.choices(choices);
  if (text !== undefined) option.argParser(argumentOf(text));
  return typeof value === 'boolean' ? option.default(value) : option.default(value, show(value));
}

const imageSources = ['auto', 'published', 'built'];

const option = (flags: string, about: string, parse?: (text: string) => unknown): Option =>
  parse === undefined ? new Option(flags, about) : new Option(flags, about).argParser(parse);

/** Where a run takes place; the certificate of a disk, and outputs: no part of a scenario. */
export const whereOptions = (): Option[] => [
  oneOf(
    '--cluster <where>',
    'kind measures on a real cluster, sim predicts with the model; auto: kind if a Docker engine answers',
    clusterWords,
    'auto',
  ),
  option('--cluster-name <name>', 'kind cluster to create or reuse', clusterName).default('main'),
  oneOf(
    '--images <source>',
    'published: from registries; built: here from packages and Go modules',
    imageSources,
    'auto',
  ),
  option(
    '--registry <host:port>',
    'registry to pull our images from (scripts/publish-images.ts pushes them)',
    registry,
  ),
  oneOf(
    '--initiator <kind>',
    'what reaches the disk over a storage network; kernel is refused, with what this machine lacks',
    initiatorWords,
    'user-space',
  ),
  option('--workers <n>', workersWords, workerCount),
  option('--keep', 'keep the cluster for the next run'),
];

/** One of them. Throws RangeError of a name that none has. */
export function whereOption(name: string): Option {
  const found = whereOptions().find((option) => option.name() === name);
  if (found === undefined) throw new RangeError(`there is no flag --${name}`);
  return found;
}

/** Option for a command that makes images and takes nothing else of these. */
export const imagesOption = (): Option =>
  oneOf('--images <source>', 'where images come from', imageSources, 'auto');

const certificateOptions = (): Option[] => [
  option(
    '--disk-from <file>',
    'read --disk and --cut-after from a certificate of the probe (docs/how-to/play-a-certificate.md)',
    nonEmpty,
  ),
  option(
    '--disk-class <name>',
    'with --disk-from: the StorageClass, if the certificate has several',
    nonEmpty,
  ),
];

const outputOptions = (): Option[] => [
  option('--seed <text>', 'seed for every random draw (default: random, printed first)', seedText),
  option('--out <dir>', 'folder of the run (default: reports/<time>-<name>-<run id>)', nonEmpty),
  failOnOption(),
  option('--json', 'verdict.json on stdout, everything else on stderr'),
  option('--dry-run', 'show what would run; create nothing'),
];

const ofClusters: ReadonlySet<string | undefined> = new Set([
  ...['--cluster-name', '--cluster-names', '--pools'],
  ...['--images', '--registry', '--keep'],
]);

/**
 * One line, or none: flags about clusters and their images, that the chosen backend does not use; reported,
 * since old replays have them. A flag that says its default asks for nothing.
 */
export function unusedFlags(
  options: readonly Option[],
  flags: object,
  { images }: Pick<BackendChoice, 'images'>,
): string[] {
  const values = new Map<string, unknown>(Object.entries(flags));
  const unused = options.filter(
    (each) =>
      ofClusters.has(each.long) &&
      (values.get(each.attributeName()) ?? false) !== (each.defaultValue ?? false),
  );
  if (images !== undefined || unused.length === 0) return [];
  return [`the model does not use ${unused.map(({ long }) => long).join(', ')}`];
}

/** What the flags say that are no part of the scenario. */
export interface RunFlags
  extends Pick<BackendWish, 'cluster' | 'images' | 'registry' | 'initiator'>,
    BackendSize {
  /** Path of a certificate, and which of its classes. */
  readonly diskFrom?: string;
  readonly diskClass?: string;
  /** Undefined: drawn at random. */
  readonly seed?: string;
  /** Undefined: reports/<time>-<name>-<run id>. */
  readonly out?: string;
  /** Undefined: the exit code says whether the expectation came true. */
  readonly failOn?: readonly FailWord[];
  readonly json: boolean;
  readonly dryRun: boolean;
  readonly help: boolean;
  readonly helpAll: boolean;
}

interface CommandOptions {
  /** Flags that are not shown are not read either. Default: all are. */
  readonly isShown?: (flags: string) => boolean;
  readonly examples?: readonly CommandExample[] | undefined;
}

/** `name`: how it is typed; `base` has the defaults. */
export function experimentCommand(
  name: string,
  base: Scenario,
  { isShown = () => true, examples = examplesOf[base.database.kind] }: CommandOptions = {},
): Command {
  const command = commandLine(name, examples).description(base.question);
  for (const [heading, options] of optionGroups(base)) {
    for (const option of options.filter(({ flags }) => isShown(flags))) {
      command.addOption(option.helpGroup(`${heading}:`));
    }
  }
  // Help is an option of ours: which flags it shows depends on the experiment.
  return command
    .helpOption(false)
    .addOption(new Option('-h, --help', 'show this').helpGroup('Options:'))
    .addOption(new Option('--help-all').helpGroup('Options:'));
}

/** A command whose experiment is read later: from a file, or by its name. */
export const anyExperiment = (name: string, examples?: readonly CommandExample[]): Command => {
  const about = { name: 'any', question: 'Runs an experiment.' };
  const base = completeScenario({ ...about, fault: { kind: 'node-crash' }, expected: ['safe'] });
  return experimentCommand(name, base, { examples });
};

/** Help of an experiment: without flags that do nothing beside what it chooses, unless all are wanted. */
export function helpOf(name: string, base: Scenario, isAll: boolean): string {
  const others = fieldNames
    .filter((field) => !isOfUse(field, base))
    .flatMap((field) => fields[field].flags ?? []);
  const isShown = (flags: string): boolean => isAll || !others.includes(flags);
  const command = experimentCommand(name, base, { isShown });
  const all = command.options.find(({ long }) => long === '--help-all');
  if (all !== undefined) {
    all.description =
      `show ${isAll ? 0 : others.length} more flags, of faults, remedies, disks, databases and fences that are not chosen here ` +
      '(--disk ack-early --help shows those of one choice)';
  }
  const written: string[] = [];
  command.configureOutput({ writeOut: (text) => written.push(text) }).outputHelp();
  return written.join('');
}

/** Whether it does something with the kinds of the scenario, and some other value of it fits there. */
function isOfUse(name: FieldName, scenario: Scenario): boolean {
  if (!goesWith(name, scenario) || isKept(scenario, name)) return false;
  const fits = (word: string): boolean =>
    contradictions(withValues(scenario, [[name, word]])).every(({ field }) => field !== name);
  const { choices = [] } = fields[name];
  const others = choices.filter((word) => word !== valueAt(scenario, name));
  return others.length === 0 || others.some(fits);
}

const examplesOf: Readonly<Record<DatabaseKind, readonly CommandExample[]>> = {
  'single-server': [
    ['a prediction, in seconds', '--cluster sim'],
    ['the same on a disk that cuts the old node off', '--disk fenced'],
    [
      'measured in minutes, with shortened timers',
      '--images built --grace 10s --toleration 10s --force-detach-after 30s',
    ],
  ],
  'group-replication': [
    [
      'a frozen primary, and a new one that does not wait for its backlog',
      '--cluster kind --fault freeze --consistency EVENTUAL',
    ],
    [
      'a minority that gives up after 10 s',
      '--cluster kind --majority-timeout 10s --autorejoin-tries 0',
    ],
    ['show what would run', '--cluster kind --fault node-crash --dry-run'],
  ],
};

/** Flags as parsed, and those that were given. */
export interface ParsedFlags {
  readonly flags: RunFlags;
  /** The scenario's fields of which the command line says something. */
  readonly settings: Settings;
  /** By flag, the words that were given, as they would be typed again: [`--rate`, `max`]. */
  readonly given: ReadonlyMap<string, readonly string[]>;
}

/** Fills, while the command parses, with its flags as they would be typed again. */
export function rememberGiven(command: Command): ReadonlyMap<string, readonly string[]> {
  const given = new Map<string, readonly string[]>();
  for (const option of command.options) {
    const flag = option.long ?? `--${option.name()}`;
    command.on(`option:${option.name()}`, (value: string | null | undefined) =>
      given.set(flag, [...(given.get(flag) ?? []), flag, ...(value == null ? [] : [value])]),
    );
  }
  return given;
}

/** Gives the flags of an experiment's command once it is parsed. */
export function flagsOf(command: Command): () => ParsedFlags {
  const given = rememberGiven(command);
  const off = { keep: false, json: false, dryRun: false, help: false, helpAll: false };
  const typedIn = ({ flags = '' }: Field): readonly unknown[] => {
    const key = new Option(flags).attributeName();
    return command.getOptionValueSource(key) === 'cli' ? [command.getOptionValue(key)] : [];
  };
  return () => ({
    flags: { ...off, ...command.opts<RunFlags>() },
    settings: settingsFrom(
      settableNames.flatMap((name) =>
        typedIn(fields[name]).map((value): [string, unknown] => [name, value]),
      ),
    ),
    given,
  });
}
