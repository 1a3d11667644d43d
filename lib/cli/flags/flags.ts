/** The one set of flags that every experiment takes. Defaults come from the scenario's schema. */
import { Option, type Command } from 'commander';
import {
  stockDatabaseKind,
  type DatabaseKind,
  fields,
  completeScenario,
  type Scenario,
  fieldNames,
  type Field,
  type Settings,
} from '../../scenario/index.ts';
import { commandLine, type CommandExample } from '../command.ts';
import { isOfUse, scenarioOptions, valuesOf } from './field-options.ts';
import type { FailWord } from '../fail-on.ts';
import { certificateOptions, outputOptions, whereOptions } from './run-options.ts';
import type { BackendSize, BackendWish } from '../library/backend.ts';

/** What the flags say that are no part of the scenario. */
export interface RunFlags
  extends Pick<BackendWish, 'cluster' | 'images' | 'registry'>,
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

/** By what they are about. */
export const optionGroups = (base: Scenario): readonly (readonly [string, readonly Option[]])[] => [
  ['Where', whereOptions()],
  ...scenarioOptions(base),
  ['Disk by a certificate', certificateOptions()],
  ['Output', outputOptions()],
];

/** `name`: how it is typed; `base` has the defaults; flags that are not shown are not read either. */
export function experimentCommand(
  name: string,
  base: Scenario,
  {
    isShown = () => true,
    examples = examplesOf[base.database ?? stockDatabaseKind],
  }: {
    readonly isShown?: (flags: string) => boolean;
    readonly examples?: readonly CommandExample[] | undefined;
  } = {},
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
export const anyExperiment = (name: string, examples?: readonly CommandExample[]): Command =>
  experimentCommand(
    name,
    completeScenario({
      ...{ name: 'any', question: 'Runs an experiment.' },
      ...{ fault: 'node-crash', expected: ['safe'] },
    }),
    { examples },
  );

/** Help of an experiment: without flags that do nothing beside what it chooses, unless all are wanted. */
export function helpOf(name: string, base: Scenario, isAll: boolean): string {
  const others = unfitFlags(base);
  const command = experimentCommand(name, base, {
    isShown: (flags) => isAll || !others.includes(flags),
  });
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

const unfitFlags = (scenario: Scenario): readonly string[] =>
  fieldNames
    .filter((name) => !isOfUse(name, scenario))
    .flatMap((name) => (fields[name] as Field).flag?.flags ?? []);

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
    command.on(`option:${option.name()}`, (value: string | undefined) => {
      const flag = option.long ?? `--${option.name()}`;
      const words = value === undefined || value === null ? [flag] : [flag, value];
      given.set(flag, [...(given.get(flag) ?? []), ...words]);
    });
  }
  return given;
}

/** Gives the flags of an experiment's command once it is parsed. */
export function flagsOf(command: Command): () => ParsedFlags {
  const given = rememberGiven(command);
  const off = { keep: false, json: false, dryRun: false, help: false, helpAll: false };
  return () => ({
    flags: { ...off, ...command.opts<RunFlags>() },
    settings: valuesOf(fields, typedOf(command)),
    given,
  });
}

/** Values of the flags that were typed, and not those that are defaults. */
const typedOf = (command: Command): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(command.opts()).filter(([name]) => command.getOptionValueSource(name) === 'cli'),
  );
