/** The one set of flags that every experiment takes. Defaults come from the scenario's schema. */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import type { Scenario } from '../experiment/scenario.ts';
import { UsageError } from '../errors.ts';
import { defaultKubernetesVersion } from '../images/versions.ts';
import { formatDuration, parseDurationMs } from './durations.ts';

/** What the flags say, parsed; a scenario's fields where they have one. */
export interface Flags {
  readonly cluster: 'auto' | 'kind' | 'sim';
  readonly clusterName: string;
  readonly images: 'auto' | 'published' | 'built';
  readonly kubernetesVersion: string;
  readonly workers: number;
  readonly remedy: Scenario['remedy'];
  readonly remedyAt: Scenario['remedyAt'];
  readonly disk: Scenario['disk'];
  readonly rate: Scenario['rate'];
  readonly connections: number;
  readonly trxCommit: Scenario['trxCommit'];
  readonly reboot: boolean;
  /** Milliseconds, as all durations below. */
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

function durationMs(text: string): number {
  const ms = parseDurationMs(text);
  if (ms !== undefined) return ms;
  throw new InvalidArgumentError('Give a duration such as 30s, 6m or 500ms.');
}

function wholeNumber(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a whole number.');
}

function workerCount(text: string): number {
  if (/^\d+$/.test(text) && Number(text) >= 2) return Number(text);
  throw new InvalidArgumentError('At least 2: a victim and a successor.');
}

function clusterName(text: string): string {
  if (/^[a-z0-9][a-z0-9.-]*$/.test(text)) return text;
  throw new InvalidArgumentError('Lower-case letters, digits, dots and dashes.');
}

/** Without the leading `v`. */
function version(text: string): string {
  if (/^v?\d+\.\d+\.\d+$/.test(text)) return text.replace(/^v/, '');
  throw new InvalidArgumentError('Give a full version such as 1.34.4.');
}

function nonEmpty(text: string): string {
  if (text.trim() !== '') return text;
  throw new InvalidArgumentError('It is empty.');
}

function rate(text: string): number | 'max' {
  if (text === 'max') return text;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give operations per second and client, or max.');
}

function remedyAt(text: string): number | 'terminating' {
  return text === 'terminating' ? text : durationMs(text);
}

function trxCommit(text: string): 0 | 1 | 2 {
  if (text === '0' || text === '1' || text === '2') return Number(text) as 0 | 1 | 2;
  throw new InvalidArgumentError('Allowed choices are 0, 1, 2.');
}

/** A duration flag whose default is shown as it would be typed. */
const duration = (flags: string, about: string, defaultMs: number): Option =>
  new Option(flags, about).argParser(durationMs).default(defaultMs, formatDuration(defaultMs));

const choice = (flags: string, about: string, choices: readonly string[], value: string): Option =>
  new Option(flags, about).choices(choices).default(value);

function whereOptions(): Option[] {
  return [
    choice(
      '--cluster <where>',
      'kind measures on real machines, sim predicts by a model; auto: kind where an engine answers',
      ['auto', 'kind', 'sim'],
      'auto',
    ),
    new Option('--cluster-name <name>', 'kind cluster to create or reuse')
      .argParser(clusterName)
      .default('main'),
    choice(
      '--images <source>',
      'published: from registries; built: here from packages and Go modules',
      ['auto', 'published', 'built'],
      'auto',
    ),
    new Option('--kubernetes-version <version>', 'Kubernetes version')
      .argParser(version)
      .default(defaultKubernetesVersion),
    new Option('--workers <n>', 'worker nodes').argParser(workerCount).default(2),
    new Option('--keep', 'keep the cluster for the next run'),
  ];
}

function scenarioOptions(base: Scenario): Option[] {
  return [
    choice(
      '--remedy <kind>',
      'what removes the old pod',
      ['none', 'force-delete', 'out-of-service'],
      base.remedy,
    ),
    new Option('--remedy-at <when>', 'terminating, or so long after the fault (400s)')
      .argParser(remedyAt)
      .default(base.remedyAt),
    choice(
      '--disk <kind>',
      'how the disk answers a detach of a volume in use',
      ['unfenced', 'fenced'],
      base.disk,
    ),
    new Option('--rate <n>', 'acknowledged operations per second and client; max; 0: idle')
      .argParser(rate)
      .default(base.rate),
    new Option('--connections <n>', 'connections per client')
      .argParser(wholeNumber)
      .default(base.connections),
    new Option('--trx-commit <n>', 'innodb_flush_log_at_trx_commit: 0, 1 or 2')
      .argParser(trxCommit)
      .default(base.trxCommit),
    new Option('--no-reboot', 'leave a crashed node down until the clean-up'),
  ];
}

function timerOptions(base: Scenario): Option[] {
  return [
    duration(
      '--force-detach-after <time>',
      'wait before a forced detach (other than stock: built images or sim only)',
      base.forceDetachAfterMs,
    ),
    duration('--grace <time>', 'node-monitor-grace-period', base.graceMs),
    duration(
      '--toleration <time>',
      'tolerationSeconds of the unreachable taint',
      base.tolerationMs,
    ),
    duration('--warmup <time>', 'writers run so long before the fault', base.warmupMs),
    duration('--overlap <time>', 'writers run so long after the hand-over', base.overlapMs),
    duration(
      '--patience <time>',
      'a successor that mounted but commits nothing is watched so much longer',
      base.patienceMs,
    ),
    duration('--horizon <time>', 'the watch ends so long after the fault', base.horizonMs),
    duration('--converge <time>', 'bound for commits to come back after the heal', base.convergeMs),
  ];
}

function outputOptions(): Option[] {
  return [
    new Option(
      '--seed <text>',
      'seed of everything random (default: drawn, printed first)',
    ).argParser(nonEmpty),
    new Option(
      '--out <dir>',
      'folder of the run (default: reports/<time>-<name>-<run id>)',
    ).argParser(nonEmpty),
    new Option('--json', 'verdict.json on stdout, everything else on stderr'),
    new Option('--dry-run', 'say what would run and create nothing'),
  ];
}

/** The command of one experiment, ready to parse. `base` has the defaults. */
function experimentCommand(base: Scenario): Command {
  const command = new Command(`npx zx experiments/${base.name}.mjs`)
    .description(base.question)
    .helpOption('-h, --help', 'show this')
    .showSuggestionAfterError(true)
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  const groups: readonly [string, Option[]][] = [
    ['Where:', whereOptions()],
    ['Scenario:', scenarioOptions(base)],
    ['Timers:', timerOptions(base)],
    ['Output:', outputOptions()],
  ];
  for (const [heading, options] of groups) {
    for (const option of options) command.addOption(option.helpGroup(heading));
  }
  return command;
}

/** Flags as parsed, and those given by the user as they would be typed again. */
export interface ParsedFlags {
  readonly flags: Flags;
  /** Words of the command line that differ from the defaults, e.g. [`--rate`, `max`]. */
  readonly given: ReadonlyMap<string, readonly string[]>;
}

/** Throws UsageError `BAD_FLAG`; undefined when help was asked for, which was then printed. */
export function parseFlags(base: Scenario, args: readonly string[]): ParsedFlags | undefined {
  const command = experimentCommand(base);
  const given = new Map<string, readonly string[]>();
  for (const option of command.options) {
    command.on(`option:${option.name()}`, (value: string | undefined) => {
      const flag = option.long ?? `--${option.name()}`;
      given.set(flag, value === undefined || value === null ? [flag] : [flag, value]);
    });
  }
  try {
    command.parse([...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return undefined;
    throw new UsageError('BAD_FLAG', error.message.replace(/^error: /, ''), {
      hint: '--help shows every flag with its default',
      command: `npx zx experiments/${base.name}.mjs --help`,
    });
  }
  const off = { keep: false, json: false, dryRun: false };
  return { flags: { ...off, ...command.opts<Flags>() }, given };
}
