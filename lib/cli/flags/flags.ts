/** The one set of flags that every experiment takes. Defaults come from the scenario's schema. */
import { CommanderError, type Command, type Option } from 'commander';
import type { DatabaseChoice } from '../../database/fields.ts';
import { tunes } from '../../experiment/contradictions.ts';
import type { Scenario } from '../../experiment/scenario.ts';
import { commandLine, parseArguments } from '../command.ts';
import { diskOptions } from './disk-options.ts';
import { outputOptions, timerOptions, whereOptions } from './flag-options.ts';
import { scenarioOptions } from './scenario-options.ts';
import { asTyped } from './typed.ts';

/** What the flags say, parsed; a scenario's fields where they have one. */
export interface Flags extends DatabaseChoice {
  readonly cluster: 'auto' | 'kind' | 'sim';
  readonly clusterName: string;
  readonly images: 'auto' | 'published' | 'built';
  /** Undefined: official images, or built here. */
  readonly registry?: string;
  readonly kubernetes: Scenario['kubernetes'];
  readonly featureGate: Scenario['featureGates'];
  /** Undefined: as many as the backend takes by itself. */
  readonly workers?: number | undefined;
  readonly remedy: Scenario['remedy'];
  readonly remedyAt: Scenario['remedyAt'];
  readonly untaintAt: Scenario['untaintAt'];
  /** Seconds. */
  readonly terminationGrace: number;
  readonly podFinalizer: boolean;
  readonly forceDetach: Scenario['forceDetach'];
  readonly rate: Scenario['rate'];
  readonly connections: number;
  readonly workload: Scenario['workload'];
  readonly moveBack: boolean;
  readonly recreations: number;
  readonly preStop: number;
  readonly selfFence: Scenario['selfFence'];
  readonly selfFenceAfter: number;
  readonly reboot: boolean;
  readonly rebootAt: Scenario['rebootAt'];
  readonly cpuShare: number;
  readonly flapDown: number;
  readonly flapUp: number;
  readonly serverKills: number;
  readonly also: Scenario['also'];
  readonly alsoAt: Scenario['alsoAt'];
  readonly alsoFor: number;
  readonly provision: Scenario['provision'];
  readonly disk: Scenario['disk'];
  /** Path of a certificate. */
  readonly diskFrom?: string;
  readonly diskClass?: string;
  readonly watcherCheck: Scenario['watcherCheck'];
  readonly attachWhileBusy: Scenario['attachWhileBusy'];
  readonly fileLocks: Scenario['fileLocks'];
  readonly link: Scenario['link'];
  readonly fs: Scenario['filesystem'];
  readonly accessMode: Scenario['accessMode'];
  readonly flushes: Scenario['flushes'];
  readonly powerLoss: Scenario['powerLoss'];
  readonly keepWrites: boolean;
  /** Milliseconds, as all durations below. */
  readonly cutAfter: number;
  readonly forceDetachAfter: number;
  readonly grace: number;
  readonly toleration: number;
  readonly warmup: number;
  readonly overlap: number;
  readonly patience: number;
  readonly horizon: number;
  readonly converge: number;
  /** Undefined: drawn at random. */
  readonly seed?: string;
  /** Undefined: reports/<time>-<name>-<run id>. */
  readonly out?: string;
  readonly keep: boolean;
  readonly json: boolean;
  readonly dryRun: boolean;
}

/** By what they are about. */
export const optionGroups = (base: Scenario): readonly (readonly [string, Option[]])[] => [
  ['Where', whereOptions(base)],
  ['Scenario', scenarioOptions(base)],
  ['Disk', diskOptions(base)],
  ['Timers', timerOptions(base)],
  ['Output', outputOptions()],
];

/** A flag is called as its field is, without the unit. */
const isOfUse = (option: Option, fault: Scenario['fault']): boolean => {
  const name = option.attributeName();
  return tunes(name, fault) && tunes(`${name}Ms`, fault);
};

/** The command of one experiment, ready to parse. `base` has the defaults. */
export function experimentCommand(base: Scenario, script: readonly string[]): Command {
  const typed = asTyped(`npx zx ${script.join(' ')}`);
  const command = commandLine(typed)
    .description(base.question)
    .allowExcessArguments(false)
    .addHelpText('after', `\nExamples:\n${examplesFor(typed)}`);
  for (const [heading, options] of optionGroups(base)) {
    for (const option of options) {
      command.addOption(option.helpGroup(`${heading}:`).hideHelp(!isOfUse(option, base.fault)));
    }
  }
  return command;
}

const examplesFor = (typed: string): string =>
  [
    ['a prediction, in seconds', '--cluster sim'],
    ['the same on a disk that cuts the old node off', '--disk fenced'],
    [
      'measured in minutes, since the timers are shortened',
      '--images built --grace 10s --toleration 10s --force-detach-after 30s',
    ],
  ]
    .map(([what, flags]) => `  # ${what}\n  ${typed} ${flags}`)
    .join('\n');

/** Flags as parsed, and those given by the user as they would be typed again. */
export interface ParsedFlags {
  readonly flags: Flags;
  /** Words of the command line that differ from the defaults, e.g. [`--rate`, `max`]. */
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
  return { flags: { ...off, ...command.opts<Flags>() }, given };
}
