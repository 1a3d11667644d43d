/** An experiment from its flags to its outputs: a preset of experiments/, or a schedule file. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import {
  type ExitCode,
  exitCode,
  formatDuration,
  isPreset,
  minorOf,
  plainText,
  scriptArguments,
  typed,
  UsageError,
} from '../../core/index.ts';
import { exitCodeOf, isOpen } from '../../judge/index.ts';
import { mysql } from '../../mysql/index.ts';
import { openWords } from '../../report/index.ts';
import {
  type Scenario,
  fieldNames,
  goesWith,
  isKept,
  originInWords,
  parseScenario,
  shortenedTimers,
  writtenOf,
  type FieldName,
  valueAt,
  fields,
} from '../../scenario/index.ts';
import { exitCodeAfter, exits, perform, say, tell } from '../command.ts';
import { exitCodeUnder } from '../fail-on.ts';
import {
  anyExperiment,
  flagsOf,
  helpOf,
  unusedFlags,
  whereOptions,
  type ParsedFlags,
} from '../flags/flags.ts';
import {
  helpBaseOf,
  requestOf,
  type ExperimentDefinition,
  type RunRequest,
} from '../flags/request.ts';
import { chooseBackend, openBackend, wishOf } from '../library/backend.ts';
import type { BackendChoice } from '../library/run-plan.ts';
import { performRun, planRun } from '../library/run-plan.ts';
import { onTerminal } from '../terminal/on-terminal.ts';
import { verdictLines } from '../terminal/verdict-lines.ts';

const presets = new URL('../../../experiments/', import.meta.url);

/** The experiments that are files of experiments/, by their names. */
export const presetNames = (): string[] =>
  readdirSync(presets)
    .filter((file) => file.endsWith('.mjs'))
    .map((file) => file.slice(0, -'.mjs'.length))
    .filter(isPreset)
    .toSorted();

/** Under `forcedetach` the file gives its data and plays nothing. */
export async function readPreset(name: string): Promise<ExperimentDefinition> {
  const file = (await import(new URL(`${name}.mjs`, presets).href)) as {
    readonly default: ExperimentDefinition;
  };
  return file.default;
}

/** Plays the experiment of a file that was started, with its flags. Sets the exit code. Never throws. */
export async function playPreset(definition: ExperimentDefinition): Promise<void> {
  const command = anyExperiment(typed(definition.name));
  const flags = flagsOf(command);
  command.action(exits(() => play(definition, flags(), [definition.name])));
  process.exitCode = await exitCodeAfter(() => perform(command, scriptArguments()));
}

export function runCommandLine(): Command {
  const command = anyExperiment('npx forcedetach run').argument('[experiment]');
  const flags = flagsOf(command);
  return command.action(
    exits(async (name?: string) => {
      const parsed = flags();
      const { help, helpAll } = parsed.flags;
      const hasFault = parsed.settings.fault?.kind !== undefined;
      if (name === undefined && !hasFault && (help || helpAll || parsed.given.size === 0)) {
        tell(usage());
        return exitCode.expected;
      }
      const definition = await presetNamed(name ?? (hasFault ? anyFault : undefined));
      return play(definition, parsed, [definition.name]);
    }),
  );
}

/** Its fault is given by a flag; the others take one as well. */
const anyFault = 'node-crash';

/** Throws UsageError `UNKNOWN_EXPERIMENT`, `NO_EXPERIMENT`. */
async function presetNamed(name: string | undefined): Promise<ExperimentDefinition> {
  const command = 'npx forcedetach run --help';
  const names = presetNames();
  if (name === undefined) {
    throw new UsageError('NO_EXPERIMENT', 'no experiment and no fault given', {
      hint: `name an experiment, or give --fault KIND; the experiments are ${names.join(', ')}`,
      command,
    });
  }
  if (names.includes(name)) return readPreset(name);
  throw new UsageError('UNKNOWN_EXPERIMENT', `there is no experiment \`${name}\``, {
    hint: `choose one: ${names.join(', ')}`,
    command,
  });
}

const usage = (): string =>
  [
    'Usage: npx forcedetach run EXPERIMENT [flags]',
    '       npx forcedetach run --fault KIND [flags]',
    '',
    'Flags may stand before or after the name.',
    '',
    ...presetNames().map((name) => `  ${name}`),
    '',
    'run EXPERIMENT --help shows its question and its flags.',
  ].join('\n');

const schedules = 'experiments/schedules';

/** Runs the scenario of a schedule file (docs/internals/sweep.md); its flags override the file. */
export function replayCommandLine(): Command {
  const command = anyExperiment(typed('replay'), [
    ['on the model, in seconds', `${schedules}/no-grace-period-nobody-acts.yaml --cluster sim`],
    ['measured', `${schedules}/reboot-at-force-detach.yaml --cluster kind`],
    ['list the flags', `${schedules}/reboot-at-force-detach.yaml --help`],
  ])
    .description(
      'Runs the scenario of a schedule file (docs/internals/sweep.md), on kind or on the model. The\n' +
        'flags override the file. Exits with 0 if the prediction holds.',
    )
    .argument('[file]', 'schedule file');
  const flags = flagsOf(command);
  return command.action(
    exits(async (file?: string) => {
      const parsed = flags();
      if (file !== undefined) return play(await scheduleIn(file), parsed, ['replay', file]);
      if (parsed.flags.help || parsed.flags.helpAll) {
        command.outputHelp();
        return exitCode.expected;
      }
      const help = typed('replay', ['--help']);
      throw new UsageError('NO_FILE', 'no schedule file given', { command: help });
    }),
  );
}

export async function scheduleIn(path: string): Promise<ExperimentDefinition> {
  const { readSchedule } = await import('../../sweep/index.ts');
  const { name, question, seed, predicted, scenario } = readSchedule(path, say);
  const { fault = 'none', ...written } = writtenOf(scenario);
  return { ...written, name, question, fault, seed, expected: predicted };
}

/** `start`: the command that a replay repeats. */
async function play(
  definition: ExperimentDefinition,
  parsed: ParsedFlags,
  start: readonly [string, ...string[]],
): Promise<ExitCode> {
  const { help, helpAll } = parsed.flags;
  if (help || helpAll) {
    const [name, ...words] = start;
    tell(helpOf(typed(name, words), helpBaseOf(definition, parsed), helpAll));
    return exitCode.expected;
  }
  return carryOut(requestOf(definition, parsed, new Date(), start));
}

async function carryOut(request: RunRequest): Promise<ExitCode> {
  const { flags } = request;
  const stream = flags.json ? process.stderr : process.stdout;
  const cluster = {
    choose: (scenario: Scenario) => chooseBackend({ ...flags, ...wishOf(scenario) }),
    open: (choice: BackendChoice) => openBackend(choice, flags),
  };
  const plan = await planRun({ ...request, database: mysql, cluster }, true);
  const description = `${plainText(describeRequest(request, plan.choice))}\n`;
  if (flags.dryRun) {
    const images = await describeImages(request, plan.choice);
    stream.write(`${description}${images}dry run: nothing was created\n`);
    return exitCode.expected;
  }
  process.stderr.write(description);
  const judged = await onTerminal(plan.database, (watch) => performRun(plan, watch));
  await judged.write(plan.folder);
  const { verdict } = judged;
  stream.write(`${verdictLines(judged, join(plan.folder, 'report.html'), stream)}\n`);
  if (flags.json) process.stdout.write(`${JSON.stringify(verdict, undefined, 2)}\n`);
  return exitCodeUnder(flags.failOn, exitCodeOf(verdict), [verdict.verdict]);
}

/**
 * What a run is about to do: seed first, then the parameters, the backend, the images. In a dry run every
 * parameter, one a line; else the main ones and those that differ from the defaults.
 */
export function describeRequest(request: RunRequest, choice: BackendChoice): string {
  const { scenario, seed, folder, flags } = request;
  const { kubernetes, disk, diskFrom } = scenario;
  const minor = minorOf(kubernetes.version);
  return [
    `seed ${seed}`,
    scenario.question,
    ...(flags.dryRun ? allParameters(scenario) : aboutScenario(scenario)),
    ...(diskFrom ? [`disk from a certificate: ${originInWords(diskFrom, disk.mode)}`] : []),
    `backend: ${choice.backend}, ${choice.why}; ${basisOf(scenario, choice)}`,
    // The model plays minors: a patch would be ignored silently.
    ...(choice.isModel && minor !== kubernetes.version
      ? [`the model plays Kubernetes ${minor} for ${kubernetes.version}`]
      : []),
    ...unusedFlags(whereOptions(), flags, choice),
    ...(choice.images === undefined ? [] : [choice.images.reason]),
    `folder: ${folder}`,
    `replay: ${request.replay(choice.backend)}`,
  ].join('\n');
}

/** The question has its own line, and earlier counts are shown with the verdict. */
const shownElsewhere: readonly string[] = ['question', 'counted', 'diskFrom'];

/** All that do something in it. */
function allParameters(scenario: Scenario): string[] {
  return fieldNames
    .filter((field) => !shownElsewhere.includes(field) && shown(scenario, field) !== '')
    .filter((field) => goesWith(field, scenario) && !isKept(scenario, field))
    .map((field) => `  ${field.padEnd(26)} ${shown(scenario, field)}`);
}

function shown(of: Scenario, field: FieldName): string {
  const value = valueAt(of, field);
  return value === undefined ? '' : fields[field].show(value);
}

function aboutScenario(scenario: Scenario): string[] {
  const { name, question, fault, remedy, disk, expected, counted } = scenario;
  const held = isOpen(scenario) ? openWords(counted) : `expected: ${expected.join(' or ')}`;
  const stock = parseScenario({
    ...{ name, question, expected, fault: { kind: fault.kind }, disk: { mode: disk.mode } },
    // Without a fault no event comes that a remedy could wait for.
    remedy: { kind: remedy.kind, ...(fault.kind === 'none' && { at: 0 }) },
  });
  const changed = fieldNames
    .filter((field) => !shownElsewhere.includes(field))
    .filter((field) => shown(scenario, field) !== shown(stock, field))
    .map((field) => `${field} ${shown(scenario, field)}`);
  return [
    `fault ${fault.kind}, remedy ${remedy.kind}, disk ${disk.mode}; ${held}`,
    changed.length === 0
      ? 'All settings are defaults (see --dry-run)'
      : `Changed from defaults: ${changed.join(', ')}`,
  ];
}

function basisOf(scenario: Scenario, { isModel }: BackendChoice): string {
  if (isModel) return 'the verdict is a prediction by the built-in model';
  const shortened = shortenedTimers(scenario);
  const timers =
    shortened.length === 0 ? 'stock timers' : `changed timers: ${shortened.join(', ')}`;
  return `${timers}; the watch lasts up to ${formatDuration(scenario.watch.horizon)}`;
}

/** The commands that would build the images, as a shell script; empty where none are needed. */
async function describeImages(
  {
    scenario: {
      kubernetes: { version: kubernetes },
      volume: { provision },
      disk: { transport },
    },
  }: RunRequest,
  { images }: BackendChoice,
): Promise<string> {
  if (images === undefined) return '';
  const { describePlan, planImages } = await import('../../kind/index.ts');
  const { source, registry } = images;
  const provisioner = provision === 'dynamic';
  const initiator = transport !== 'array';
  const wanted = { source, registry, kubernetes, provisioner, initiator };
  const lines = describePlan(planImages(wanted));
  return ['commands of the image layer (images that exist are skipped):', ...lines, ''].join('\n');
}
