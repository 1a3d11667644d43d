/** The one set of flags that every experiment takes. Defaults come from the scenario's schema. */
import { CommanderError, type Command, type Option } from 'commander';
import { stockDatabaseKind, type DatabaseKind } from '../../database/kinds/index.ts';
import { fields } from '../../experiment/fields.ts';
import type { Scenario } from '../../experiment/scenario.ts';
import type { Settings } from '../../experiment/settings.ts';
import { commandLine, parseArguments, type CommandExample } from '../command.ts';
import { scenarioOptions, valuesOf } from './field-options.ts';
import type { FailWord } from '../fail-on.ts';
import { helpOnlyWithFitting } from './fitting-help.ts';
import { certificateOptions, outputOptions, whereOptions } from './run-options.ts';
import type { BackendSize, BackendWish } from '../../library/backend.ts';

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
}

/** By what they are about. */
export const optionGroups = (base: Scenario): readonly (readonly [string, readonly Option[]])[] => [
  ['Where', whereOptions()],
  ...scenarioOptions(base),
  ['Disk by a certificate', certificateOptions()],
  ['Output', outputOptions()],
];

/** The command of one experiment, ready to parse. `base` has the defaults. */
export function experimentCommand(base: Scenario, script: readonly string[]): Command {
  const { question, database = stockDatabaseKind } = base;
  const command = commandLine(`npx zx ${script.join(' ')}`, examples[database])
    .description(question)
    .allowExcessArguments(false);
  for (const [heading, options] of optionGroups(base)) {
    for (const option of options) {
      command.addOption(option.helpGroup(`${heading}:`));
    }
  }
  helpOnlyWithFitting(command, base);
  return command;
}

const examples: Readonly<Record<DatabaseKind, readonly CommandExample[]>> = {
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

/** Throws UsageError `BAD_FLAG`; undefined when help was asked for, which was then printed. */
export function parseFlags(
  base: Scenario,
  args: readonly string[],
  script: readonly string[],
): ParsedFlags | undefined {
  const command = experimentCommand(base, script);
  const given = rememberGiven(command);
  try {
    parseArguments(command, args);
  } catch (error) {
    if (error instanceof CommanderError) return undefined;
    throw error;
  }
  const off = { keep: false, json: false, dryRun: false };
  const flags = { ...off, ...command.opts<RunFlags>() };
  return { flags, settings: valuesOf(fields, typedOf(command)), given };
}

/** Values of the flags that were typed, and not those that are defaults. */
const typedOf = (command: Command): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(command.opts()).filter(([name]) => command.getOptionValueSource(name) === 'cli'),
  );
