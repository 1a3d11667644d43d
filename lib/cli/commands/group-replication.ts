/** `experiments/group-replication.mjs`: flags to a run on a replication group, its verdict, the exit code. */
import { randomBytes } from 'node:crypto';
import type { Command, Option } from 'commander';
import { exitCode, UsageError, type ExitCode } from '../../errors.ts';
import { fields } from '../../experiment/fields.ts';
import type { FieldName } from '../../experiment/written-paths.ts';
import { parseScenario } from '../../experiment/scenario.ts';
import { exitCodeOf } from '../../experiment/verdict/verdict.ts';
import {
  groupFaults,
  groupFields,
  groupSettingsSchema,
  groupSize,
  type GroupScenario,
} from '../../database/group-settings.ts';
import type { GroupVerdict } from '../../group-replication/verdict.ts';
import { checkFolder, folderName, makeRunFolder } from '../../library/run-folder.ts';
import { commandLine, parseArguments, runCommand, say as sayLine, tell } from '../command.ts';
import { paste } from '../flags/typed.ts';
import { optionOf, scenarioOption, valuesOf } from '../flags/field-options.ts';
import { rememberGiven, type RunFlags } from '../flags/flags.ts';
import { notReplayed } from '../flags/request.ts';
import { outputOptions, whereOptions } from '../flags/run-options.ts';
import { onTerminal } from '../terminal/on-terminal.ts';

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
/** Fields of a scenario that a group has a use for, by the heading of their flags; the others are as in `base`. */
const used = {
  Kubernetes: ['kubernetes', 'featureGates'],
  Group: ['rate', 'connections', 'trxCommit'],
  Timers: [
    ...(['graceMs', 'tolerationMs', 'forceDetachAfterMs'] as const),
    ...(['warmupMs', 'overlapMs', 'horizonMs', 'convergeMs'] as const),
  ],
} as const satisfies Readonly<Record<string, readonly FieldName[]>>;

interface GroupFlags extends Omit<RunFlags, 'cluster' | 'workers'> {
  readonly workers: number;
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

export function groupCommand(): Command {
  const command = commandLine(`npx zx experiments/${name}.mjs`, [
    [
      'a primary that stands still, no wait for what the old one had',
      '--fault freeze --consistency EVENTUAL',
    ],
    ['a minority that gives up after 10 s', '--majority-timeout 10s --autorejoin-tries 0'],
    ['says what would run', '--fault node-crash --dry-run'],
  ]).description(base.question);
  const where = whereOptions().filter((option) => option.name() !== 'cluster');
  where.find((option) => option.name() === 'workers')?.default(groupSize);
  const options = (names: readonly FieldName[]): Option[] =>
    names.map((each) => scenarioOption(each, base));
  const own = Object.values(groupFields).map((each) => optionOf(each, each.stock));
  const groups: Readonly<Record<string, readonly Option[]>> = {
    Where: where,
    Kubernetes: options(used.Kubernetes),
    Group: [scenarioOption('fault', base).choices(groupFaults), ...own, ...options(used.Group)],
    Timers: options(used.Timers),
    Output: outputOptions(),
  };
  for (const [heading, each] of Object.entries(groups)) {
    for (const option of each) command.addOption(option.helpGroup(`${heading}:`));
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
  const scenario = parseScenario({ ...base, ...valuesOf(fields, command.opts()) });
  const settings = groupSettingsSchema.parse(valuesOf(groupFields, command.opts()));
  const seed = flags.seed ?? randomBytes(8).toString('hex');
  const runId = randomBytes(4).toString('hex');
  const kept = [...given].flatMap(([flag, words]) => (notReplayed.has(flag) ? [] : words));
  const words = ['npx', 'zx', `experiments/${name}.mjs`, ...kept, '--seed', seed];
  return {
    flags,
    scenario,
    settings,
    seed,
    runId,
    folder: flags.out ?? folderName(name, runId),
    replay: paste(words),
  };
}

/** What only a run needs is imported by a run: --help answers at once. */
async function run(request: Request): Promise<GroupVerdict> {
  const { groupBackend } = await import('../../cluster/kind/group/group-testbed.ts');
  const { runGroup } = await import('../../group-replication/run-group.ts');
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
