/** `experiments/group-replication.mjs`: flags to a run on a replication group, its verdict, the exit code. */
import { randomBytes } from 'node:crypto';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { exitCode, UsageError, type ExitCode } from '../../errors.ts';
import { parseScenario, type Scenario } from '../../experiment/scenario.ts';
import { exitCodeOf } from '../../experiment/verdict/verdict.ts';
import {
  consistencies,
  exitActions,
  groupFaults,
  groupSettingsSchema,
  groupSize,
  mostAutorejoinTries,
  mostExpelTimeoutS,
  mostMajorityTimeoutS,
  type GroupScenario,
} from '../../group-replication/settings.ts';
import type { GroupVerdict } from '../../group-replication/verdict.ts';
import { paste } from '../flags/arguments.ts';
import { commandLine, parseArguments, runCommand, say as sayLine, tell } from '../command.ts';
import { onTerminal } from '../terminal/on-terminal.ts';
import { outputOptions, timerOptions, whereOptions } from '../flags/flag-options.ts';
import { scenarioOptions } from '../flags/scenario-options.ts';
import { numberWithin, seconds, wholeNumber } from '../flags/flag-values.ts';
import { rememberGiven, type Flags } from '../flags/flags.ts';
import { notReplayed } from '../flags/request.ts';
import { checkFolder, folderName, makeRunFolder } from '../../library/run-folder.ts';

const name = 'group-replication';
const base = parseScenario({
  name,
  question:
    'The primary of a replication group is cut off: how long do clients wait, and what is lost?',
  fault: 'network-partition',
  horizonMs: 120_000,
  overlapMs: 30_000,
  expected: ['safe'],
});
const settings = groupSettingsSchema.parse({});

interface GroupFlags extends Omit<Flags, 'cluster' | 'workers'> {
  readonly workers: number;
  readonly fault: Scenario['fault'];
  readonly consistency: string;
  readonly exitAction: string;
  readonly autorejoinTries: number;
  /** Seconds, as below. */
  readonly majorityTimeout: number;
  readonly expelTimeout: number;
}

interface Request extends GroupScenario {
  readonly flags: GroupFlags;
  readonly seed: string;
  readonly runId: string;
  readonly folder: string;
  readonly replay: string;
}

/** Runs it and sets the exit code. Never throws. */
export const groupReplication = (): Promise<void> =>
  runCommand(name, async (args) => {
    const request = requestOf(args);
    const { flags, scenario, folder, replay } = request;
    checkFolder(folder);
    sayLine(`seed ${request.seed}\n${scenario.question}`);
    sayLine(`${JSON.stringify(request.settings)}\nfolder: ${folder}\n${replay}`);
    if (flags.dryRun) return exitCode.expected;
    makeRunFolder(folder);
    return told(await run(request), request);
  });

const secondsUpTo = (flags: string, about: string, mostS: number, defaultS: number): Option =>
  new Option(flags, about)
    .argParser((text) => {
      if (seconds(text) <= mostS) return seconds(text);
      throw new InvalidArgumentError(`At most ${mostS}s.`);
    })
    .default(defaultS, `${defaultS}s`);

function groupCommand(): Command {
  const command = commandLine(`npx zx experiments/${name}.mjs`).description(base.question);
  const of = (options: readonly Option[], names: readonly string[]): Option[] =>
    options.filter((option) => names.includes(option.name()));
  const where = whereOptions(base).filter((option) => option.name() !== 'cluster');
  where.find((option) => option.name() === 'workers')?.default(groupSize);
  const own = [
    new Option('--fault <kind>', 'what befalls the primary’s node')
      .choices(groupFaults)
      .default(base.fault),
    new Option('--consistency <level>', 'group_replication_consistency')
      .choices(consistencies)
      .default(settings.consistency),
    secondsUpTo(
      '--majority-timeout <time>',
      'group_replication_unreachable_majority_timeout; 0: for ever',
      mostMajorityTimeoutS,
      settings.majorityTimeoutS,
    ),
    new Option('--exit-action <action>', 'group_replication_exit_state_action')
      .choices(exitActions)
      .default(settings.exitAction),
    new Option(
      '--autorejoin-tries <n>',
      'group_replication_autorejoin_tries, before the exit action',
    )
      .argParser(numberWithin(0, mostAutorejoinTries))
      .default(settings.autorejoinTries),
    secondsUpTo(
      '--expel-timeout <time>',
      'group_replication_member_expel_timeout',
      mostExpelTimeoutS,
      settings.expelTimeoutS,
    ),
    new Option('--connections <n>', 'connections per client')
      .argParser(wholeNumber)
      .default(base.connections),
    ...of(scenarioOptions(base), ['rate', 'trx-commit']),
  ];
  const timers = timerOptions(base).filter((option) => option.name() !== 'patience');
  const groups = { Where: where, Group: own, Timers: timers, Output: outputOptions() };
  for (const [heading, options] of Object.entries(groups)) {
    for (const option of options) command.addOption(option.helpGroup(`${heading}:`));
  }
  return command;
}

/** Throws UsageError before anything is created. */
function requestOf(args: readonly string[]): Request {
  const command = groupCommand();
  const given = rememberGiven(command);
  parseArguments(command, args);
  const flags = command.opts<GroupFlags>();
  if (flags.workers < groupSize) {
    throw new UsageError(
      'TOO_FEW_WORKERS',
      `a group of ${groupSize} needs a node for each member`,
      {
        hint: `two members on one node fail together; give --workers ${groupSize} or more`,
      },
    );
  }
  const scenario = parseScenario({
    ...base,
    fault: flags.fault,
    rate: flags.rate,
    connections: flags.connections,
    trxCommit: flags.trxCommit,
    kubernetes: flags.kubernetes,
    featureGates: flags.featureGate,
    graceMs: flags.grace,
    tolerationMs: flags.toleration,
    forceDetachAfterMs: flags.forceDetachAfter,
    warmupMs: flags.warmup,
    overlapMs: flags.overlap,
    horizonMs: flags.horizon,
    convergeMs: flags.converge,
  });
  const asked = groupSettingsSchema.parse({
    consistency: flags.consistency,
    exitAction: flags.exitAction,
    autorejoinTries: flags.autorejoinTries,
    majorityTimeoutS: flags.majorityTimeout,
    expelTimeoutS: flags.expelTimeout,
  });
  const seed = flags.seed ?? randomBytes(8).toString('hex');
  const runId = randomBytes(4).toString('hex');
  const kept = [...given].flatMap(([flag, words]) => (notReplayed.has(flag) ? [] : words));
  const words = ['npx', 'zx', `experiments/${name}.mjs`, ...kept, '--seed', seed];
  return {
    flags,
    scenario,
    settings: asked,
    seed,
    runId,
    folder: flags.out ?? folderName(name, runId),
    replay: paste(words),
  };
}

/** What only a run needs is imported by a run: --help answers at once. */
async function run(request: Request): Promise<GroupVerdict> {
  const { groupBackend } = await import('../../cluster/kind/group/backend.ts');
  const { runGroup } = await import('../../group-replication/run.ts');
  const { flags, settings } = request;
  const backend = groupBackend(flags, settings);
  return onTerminal((watch) =>
    runGroup({ ...request, backend, ...watch(backend.clock) }, settings),
  );
}

async function told(verdict: GroupVerdict, { flags, folder }: Request): Promise<ExitCode> {
  const { groupVerdictLine, writeGroupOutputs } = await import('../../group-replication/write.ts');
  await writeGroupOutputs(folder, verdict);
  (flags.json ? sayLine : tell)(groupVerdictLine(verdict, folder));
  for (const why of verdict.incompleteBecause) sayLine(`incomplete: ${why}`);
  if (flags.json) process.stdout.write(`${JSON.stringify(verdict, undefined, 2)}\n`);
  return exitCodeOf(verdict);
}
