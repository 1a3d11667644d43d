/** `research/claims.mjs`: asks the claims of a cluster of their own, of runs, or of finished ones. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import {
  plural,
  parseDurationMs,
  exitCode,
  UsageError,
  type ExitCode,
  kubernetesDefault,
} from '../../lib/core/index.ts';
import { $ } from '../../lib/kind/index.ts';
import { shortTimers, stockTimers, fields } from '../../lib/scenario/index.ts';
import { readAnswers, type AnsweredClaim } from './answer.ts';
import { claims } from './list.ts';
import { answerSchema, answersTo, writePage } from './page.ts';
import { linesOf, noteLines } from '../../lib/batch/index.ts';
import type { Claim } from './claim.ts';
import {
  commandLine,
  parseArguments,
  runCommand,
  say,
  tell as tellLine,
  optionOf,
  whereOption,
  type RunFlags as CommonFlags,
  nonEmpty,
  onInterrupt,
  makeFolder,
} from '../../lib/cli/index.ts';
import { shortFlagsBeside } from '../short-flags.ts';

const stockHorizonMs = Number(fields['watch.horizon'].stock);

interface Flags extends Pick<CommonFlags, 'clusterName' | 'images' | 'keep'> {
  readonly kubernetes: string;
  readonly run?: readonly string[];
  readonly short: boolean;
  readonly note: boolean;
  readonly runs: boolean;
  readonly procedures: boolean;
  readonly out: string;
  readonly dryRun: boolean;
}

/**
 * Sets the exit code: 0 where every answer was expected, 1 where one was not, 3 where a claim that
 * was asked by its number has none. Never throws.
 */
export const askClaims = (): Promise<void> =>
  runCommand(async (args) => {
    const { chosen, flags } = readArguments(args);
    const asked = chosen.length === 0 ? claims : chosen;
    const wanted = asked.map((claim) => without(claim, flags));
    if (flags.run !== undefined) return tell(answersOf(flags.run, wanted), chosen, flags);
    if (chosen.length === 0) return list(wanted);
    for (const line of wanted.flatMap((claim) => commandsOf(claim, flags))) say(line);
    say(costOf(wanted, flags));
    if (flags.dryRun) return exitCode.expected;
    return tell(answersOf(await runAll(wanted, flags), wanted), chosen, flags);
  });

export function claimsCommand(): Command {
  const command = commandLine('npx zx research/claims.mjs', [
    ['list all claims and their measurements', ''],
    ['show what a test of claim 8 would run; --short takes minutes', '8 --short --dry-run'],
    ['read the answer from a finished run', '8 --run reports/samples/node-crash'],
  ])
    .description(
      'Lists or tests the claims that this project started with (docs/reference/claims.md).',
    )
    .argument('[numbers...]', 'claims to test; default: list all, with their measurements')
    .option('--run <folders...>', 'run nothing; read the answers from these finished runs')
    .option('--short', 'shorten the timers: minutes instead of a quarter of an hour', false)
    .option('--no-runs', 'skip the scenarios')
    .option('--no-procedures', 'skip the procedures')
    .option('--note', 'add the answers to data/measurements.jsonl and their page', false)
    .option('--out <folder>', 'folder for the runs', nonEmpty, 'reports/claims')
    .option('--dry-run', 'show what would run; create nothing', false);
  for (const name of ['cluster-name', 'images', 'keep']) command.addOption(whereOption(name));
  return command.addOption(optionOf(fields['kubernetes.version'], kubernetesDefault));
}

function readArguments(args: readonly string[]): { chosen: Claim[]; flags: Flags } {
  const command = parseArguments(claimsCommand(), args);
  const off = { keep: false };
  return { chosen: command.args.map(claimOf), flags: { ...off, ...command.opts<Flags>() } };
}

function claimOf(text: string): Claim {
  const found = claims.find(({ number }) => String(number) === text);
  if (found !== undefined) return found;
  throw new UsageError(
    'NO_SUCH_CLAIM',
    `there is no claim ${text}: they are numbered 1 to ${claims.length}`,
    {
      command: 'npx zx research/claims.mjs',
    },
  );
}

/** The claim without what shall not be run; what it reads from finished runs stays. */
const without = ({ runs, procedure, ...claim }: Claim, flags: Flags): Claim => ({
  ...claim,
  ...(flags.run === undefined && !flags.runs ? {} : { runs: runs ?? [] }),
  ...(procedure === undefined || (flags.run === undefined && !flags.procedures)
    ? {}
    : { procedure }),
});

/** Before anything is created: how long real runs watch at most. */
function costOf(wanted: readonly Claim[], flags: Flags): string {
  const runs = runsOf(wanted);
  const procedures = wanted.filter(({ procedure }) => procedure !== undefined).length;
  const watchMs = runs
    .map((run) => /.*--horizon[ =](\S+)/.exec(commandOf(run, flags))?.[1])
    .reduce((sum, horizon) => sum + (parseDurationMs(horizon ?? '') ?? stockHorizonMs), 0);
  const parts = [
    ...(runs.length === 0 ? [] : [plural(runs.length, 'run')]),
    ...(procedures === 0 ? [] : [plural(procedures, 'procedure')]),
  ];
  if (parts.length === 0) return 'These claims need no run.';
  const minutes = `${Math.ceil(watchMs / 60_000)} min`;
  return (
    `Cost: ${parts.join(' and ')} on kind, one after the other; the runs watch for up to ${minutes}` +
    ` in all, besides set-up and audits.${flags.short ? '' : ' --short is faster.'}`
  );
}

function commandsOf({ number, procedure, runs = [] }: Claim, flags: Flags): string[] {
  const own =
    procedure === undefined ? [] : [`claim ${number}: a procedure on a cluster of its own`];
  return [...own, ...runs.map((run) => `claim ${number}: ${commandOf(run, flags)}`)];
}

/** A run's own flags come last, and so win. */
const commandOf = (run: string, { short, kubernetes }: Flags): string => {
  const [experiment, ...flags] = run.split(' ');
  const version = kubernetes === kubernetesDefault ? [] : ['--kubernetes', kubernetes];
  const words = [...version, ...(short ? [shortFlagsBeside(run)] : []), ...flags];
  return ['npx zx', `experiments/${experiment}.mjs`, ...words].join(' ');
};

/** Only built images have shorter timers. */
const imagesOf = ({ short, images }: Flags): Flags['images'] => (short ? 'built' : images);

/** Folders of all that ran, also of what failed on its way. */
async function runAll(wanted: readonly Claim[], flags: Flags): Promise<string[]> {
  const runId = randomBytes(4).toString('hex');
  const folder = join(flags.out, runId);
  makeFolder(folder);
  const folders: string[] = [];
  using interrupt = onInterrupt(say, () => folders.at(-1) ?? 'the set-up');
  const procedures = wanted.flatMap(({ procedure, ...claim }) =>
    procedure === undefined ? [] : [{ ...claim, procedure }],
  );
  if (procedures.length > 0) {
    const { grace, forceDetachAfter } = flags.short ? shortTimers : stockTimers;
    const { runProcedures } = await import('./procedures/run-procedures.ts');
    await runProcedures({
      made: {
        timers: { grace, forceDetachAfter },
        kubernetes: { version: flags.kubernetes },
      },
      wanted: procedures,
      clusterName: flags.clusterName,
      images: imagesOf(flags),
      keep: flags.keep,
      runId,
      folder,
      signal: interrupt.signal,
      say,
      onDone: (done) => folders.push(done),
    });
  }
  for (const run of runsOf(wanted)) {
    const out = join(folder, `run-${folders.length + 1}`);
    const words = commandOf(run, flags).split(' ').slice(2);
    const cluster = ['--cluster', 'kind', '--cluster-name', flags.clusterName];
    const where = [...cluster, '--images', imagesOf(flags), '--out', out];
    const zx = join('node_modules', 'zx', 'build', 'cli.js');
    const more = flags.keep ? [...where, '--keep'] : where;
    const { signal } = interrupt;
    // It heals and cleans up by itself; this waits for it.
    const shell = $({ nothrow: true, stdio: 'inherit', signal, killSignal: 'SIGINT' });
    await shell`${process.execPath} ${zx} ${words} ${more}`;
    signal.throwIfAborted();
    if (existsSync(out)) folders.push(out);
  }
  return folders;
}

/** Each scenario once, whichever claims it answers. */
const runsOf = (wanted: readonly Claim[]): string[] => [
  ...new Set(wanted.flatMap(({ runs = [] }) => runs)),
];

const answersOf = (folders: readonly string[], wanted: readonly Claim[]): AnsweredClaim[] =>
  folders.flatMap((folder) => readAnswers(folder, wanted));

function tell(told: readonly AnsweredClaim[], chosen: readonly Claim[], { note }: Flags): ExitCode {
  for (const { claim, reading } of told) {
    const { number, title } = claim;
    if (typeof reading === 'string') {
      say(`${number}. ${title}: no answer, ${reading}`);
      continue;
    }
    tellLine(`${number}. ${title}: ${reading.asExpected ? 'as expected' : 'NOT EXPECTED'}`);
    tellLine(`   ${reading.said}`);
    for (const line of reading.evidence) tellLine(`     ${line}`);
  }
  const answers = told.flatMap(({ reading }) => (typeof reading === 'string' ? [] : reading));
  const answered = told.filter(({ reading }) => typeof reading !== 'string');
  const missing = chosen.filter(
    (each) => !answered.some(({ claim }) => claim.number === each.number),
  );
  for (const { number, title } of missing) say(`${number}. ${title}: no run answers it`);
  if (answers.length === 0 && missing.length === 0) {
    throw new UsageError('NO_ANSWER', 'these runs answer none of the claims', {
      command: 'npx zx research/claims.mjs',
    });
  }
  if (note) {
    noteLines(told.flatMap(({ measured }) => measured ?? []));
    writePage();
  }
  if (answers.some(({ asExpected }) => !asExpected)) return exitCode.unexpected;
  return missing.length === 0 ? exitCode.expected : exitCode.inconclusive;
}

function list(wanted: readonly Claim[]): ExitCode {
  const measured = linesOf(answerSchema);
  for (const { number, title, expected } of wanted) {
    tellLine(`${String(number).padStart(2)}. ${title}`);
    tellLine(`    Expected: ${expected}`);
    for (const { outcome, versions, source } of answersTo(number, measured)) {
      const word = outcome.asExpected ? 'As expected' : 'NOT EXPECTED';
      tellLine(`    ${word}: ${outcome.said} (Kubernetes ${versions.kubernetes}; ${source})`);
    }
  }
  return exitCode.expected;
}
