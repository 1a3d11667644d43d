/** `forcedetach sweep`: schedules that no cluster has time for, on the model. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import {
  type ExitCode,
  type UserClients,
  exitCode,
  readJson,
  typed,
  UsageError,
  userClients,
  writeOutput,
} from '../../core/index.ts';
import { diskModes, type DiskMode } from '../../scenario/index.ts';
import {
  type ImageChoice,
  type SweepReport,
  type SweepState,
  imageFor,
  islandCount,
  islandEnd,
  mustBeAllowedIn,
  newSweep,
  newSweepNamespace,
  reapSweeps,
  reportOf,
  shrunkFindings,
  sweep,
  sweepLines,
  sweepOnCluster,
  sweepPool,
  sweepStateSchema,
} from '../../sweep/index.ts';
import { commandLine, exits, say, tell } from '../command.ts';
import { nonEmpty, numberWithin, oneOf, positiveMs, seedText } from '../flags/flag-values.ts';
import { rememberGiven, type RunFlags } from '../flags/flags.ts';
import { onInterrupt } from '../guard.ts';
import { folderName, makeFolder } from '../library/run-folder.ts';

/** Each costs a thread some 60 MB; more than there are processors gain nothing. */
const mostThreads = 64;
/** A pod each. */
const mostShards = 1000;
const mostFindings = 100_000;
/** What a number holds exactly, a little less: years of sweeping. */
const mostSchedules = 1e15;
const defaultTimeMs = 60_000;
/** Often enough for a killed sweep to lose little. */
const saveEveryMs = 5000;
/** Unless --shards says: one an island, and no more than any cluster may be asked for at once. */
const shardsByDefault = 16;

export interface SweepFlags extends Pick<RunFlags, 'seed' | 'out' | 'json'> {
  readonly schedules?: number;
  /** Milliseconds. */
  readonly time?: number;
  readonly threads: number;
  readonly findings: number;
  readonly disk?: DiskMode;
  readonly onCluster: boolean;
  readonly context?: string;
  readonly shards?: number;
  readonly images?: ImageChoice;
}

export function sweepCommandLine(): Command {
  const command = commandLine(typed('sweep'), [
    ['five minutes; the same command continues it', '--time 5m --out reports/my-sweep'],
    ['a million schedules on one kind of disk', '--schedules 1000000 --disk fenced'],
    ['on eight pods', '--on-cluster --schedules 1000000 --shards 8'],
  ])
    .description(
      'Plays random schedules on the built-in model, looks for broken invariants, and shrinks what\n' +
        'it finds. The same command with the same --out continues a sweep.',
    )
    .option('--schedules <n>', 'number of schedules', numberWithin(0, mostSchedules))
    .option(
      '--time <time>',
      'how long to sweep (default: 60s, unless --schedules is given)',
      positiveMs,
    )
    .option('--threads <n>', 'worker threads', numberWithin(1, mostThreads), availableParallelism())
    .option(
      '--findings <n>',
      'most findings to shrink and write',
      numberWithin(0, mostFindings),
      60,
    )
    .addOption(
      oneOf('--disk <kind>', 'one kind of disk for all schedules (default: random)', diskModes),
    )
    .option('--seed <text>', 'seed for every random draw (default: random)', seedText)
    .option('--out <folder>', 'folder of the sweep; if it has one, continue it', nonEmpty)
    .option('--json', 'sweep.json on stdout', false)
    .option('--on-cluster', 'run as a Job on the Kubernetes cluster of your kubeconfig', false)
    .option('--context <name>', 'another context of the kubeconfig', nonEmpty)
    .option(
      '--shards <n>',
      'number of pods (default: one for each 40,000 schedules, at most 16)',
      numberWithin(1, mostShards),
    )
    .addOption(
      oneOf('--images <source>', 'image of the pods: node:24, or one built on the nodes', [
        ...['auto', 'published', 'built'],
      ]),
    );
  const given = rememberGiven(command);
  // The seed and the disk are the state's, which an earlier process may have begun.
  const replayed = (): string[] =>
    ['--schedules', '--time', '--findings'].flatMap((flag) => given.get(flag) ?? []);
  return command.action(
    exits((flags: SweepFlags) => {
      checkClusterFlags(flags);
      return carryOut(flags, replayed());
    }),
  );
}

/** Throws UsageError `SCHEDULES_MISSING`, `ONLY_ON_CLUSTER`. */
function checkClusterFlags(flags: SweepFlags): void {
  const { onCluster, schedules, time } = flags;
  const given = (['context', 'shards', 'images'] as const).find((name) => flags[name]);
  if (!onCluster && given !== undefined) {
    throw new UsageError('ONLY_ON_CLUSTER', `--${given} applies to a sweep on a cluster only`, {
      hint: 'add --on-cluster, or omit it',
      again: ['--on-cluster'],
    });
  }
  if (onCluster && (schedules === undefined || time !== undefined)) {
    throw new UsageError('SCHEDULES_MISSING', 'a Job on a cluster needs a number of schedules', {
      hint: 'give --schedules instead of --time',
      command: typed('sweep', ['--on-cluster', '--schedules', '1000000']),
    });
  }
}

async function carryOut(flags: SweepFlags, replayed: readonly string[]): Promise<ExitCode> {
  const access = flags.onCluster ? await openSweepCluster(flags) : undefined;
  const folder = flags.out ?? folderName('sweep', randomBytes(4).toString('hex'));
  const from = begin(folder, flags);
  const disk = from.disk === undefined ? [] : ['--disk', from.disk];
  const replay = typed('sweep', ['--seed', from.seed, ...disk, ...replayed]);
  say(`seed ${from.seed}\nfolder: ${folder}\nreplay: ${replay}`);
  const explored = { from, folder, flags };
  const ended = await (access ? exploreOnCluster(access, explored) : explore(explored));
  const report = reportOf(ended);
  writeSweepReport(folder, report, flags.findings);
  const lines = [...sweepLines(report), `folder: ${folder}`];
  (flags.json ? say : tell)(lines.join('\n'));
  if (flags.json) process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
  return report.surprises.length === 0 ? exitCode.expected : exitCode.unexpected;
}

interface Explored {
  readonly from: SweepState;
  readonly folder: string;
  readonly flags: SweepFlags;
}

async function explore({ from, folder, flags }: Explored): Promise<SweepState> {
  const { schedules, time, threads } = flags;
  if (schedules !== undefined && from.next >= schedules) return from;
  const startedMs = performance.now();
  const elapsedMs = (): number => performance.now() - startedMs;
  const timeMs = time ?? (schedules === undefined ? defaultTimeMs : Infinity);
  using interrupt = onInterrupt(say, () => 'the running round');
  await using pool = sweepPool(threads);
  let savedMs = 0;
  const ended = await sweep({
    pool,
    from,
    untilIndex: schedules ?? Infinity,
    goesOn: () => elapsedMs() < timeMs && !interrupt.signal.aborted,
    onRound(state) {
      if (elapsedMs() - savedMs < saveEveryMs) return;
      savedMs = elapsedMs();
      save(folder, state);
      const perMinute = Math.round(((state.next - from.next) / savedMs) * 60_000);
      const findings = Object.keys(state.tally.findings).length;
      say(
        `[${Math.round(savedMs / 1000)} s] ${state.next} schedules, ${perMinute} a minute, ${findings} findings`,
      );
    },
  });
  save(folder, ended);
  return ended;
}

/** The cluster, which lets us do what a sweep does; what earlier sweeps left is gone. */
async function openSweepCluster({ context }: SweepFlags): Promise<UserClients> {
  const access = await userClients(context);
  await mustBeAllowedIn(access, newSweepNamespace());
  const { resisted } = await reapSweeps(say);
  for (const { namespace, why } of resisted) say(`${namespace} stays: ${why}`);
  return access;
}

/** What joined is saved after each shard, so that the same command goes on from there. */
async function exploreOnCluster(access: UserClients, explored: Explored): Promise<SweepState> {
  const { folder, flags } = explored;
  const untilIndex = flags.schedules ?? 0;
  const from = await endIsland(explored, untilIndex);
  if (from.next >= untilIndex) return from;
  using interrupt = onInterrupt(say, () => 'the namespace on the cluster');
  const startedMs = performance.now();
  return sweepOnCluster({
    ...{ access, from, untilIndex, signal: interrupt.signal },
    shards: flags.shards ?? Math.min(islandCount(from.next, untilIndex), shardsByDefault),
    image: await imageFor(access, flags.images ?? 'auto'),
    onShard: (state) => save(folder, state),
    say: (line) => say(`[${Math.round((performance.now() - startedMs) / 1000)} s] ${line}`),
  });
}

/** A sweep that was stopped amid an island first goes to its end here: shards begin with islands. */
async function endIsland({ from, folder, flags }: Explored, until: number): Promise<SweepState> {
  const end = Math.min(until, islandEnd(from.next - 1));
  if (from.next >= end) return from;
  say(`playing schedules ${from.next} to ${end - 1} here first`);
  await using pool = sweepPool(flags.threads);
  const ended = await sweep({ pool, from, untilIndex: end });
  save(folder, ended);
  return ended;
}

const stateFile = 'state.json';

/**
 * The state of the sweep in the folder, or of a new one. Throws UsageError `OUT_NOT_EMPTY`, `OTHER_SWEEP`,
 * `STATE_UNREADABLE`.
 */
export function begin(folder: string, { seed, disk }: SweepFlags): SweepState {
  makeFolder(folder);
  const files = readdirSync(folder);
  if (files.length === 0) return newSweep(seed ?? randomBytes(8).toString('hex'), disk);
  const again = ['--out', `${folder}-2`];
  if (!files.includes(stateFile)) {
    throw new UsageError('OUT_NOT_EMPTY', `${folder} contains files that are not of a sweep`, {
      hint: 'give --out a new or an empty folder, or one with a sweep to continue',
      again,
    });
  }
  const state = readState(join(folder, stateFile));
  if ((seed ?? state.seed) === state.seed && (disk ?? state.disk) === state.disk) return state;
  throw new UsageError('OTHER_SWEEP', `${folder} contains a sweep with another seed or disk`, {
    hint: `omit --seed and --disk to continue it (seed ${state.seed}), or give another --out`,
    again,
  });
}

/** A state of an earlier version, or one that was cut short, cannot be read. */
function readState(path: string): SweepState {
  const hint = 'give another --out; a sweep of an earlier version cannot be continued';
  try {
    const example = 'reports/…-sweep-…/state.json';
    return readJson(path, { kind: 'state', schema: sweepStateSchema, hint, example });
  } catch (cause) {
    const what = `${path} is not the state of a sweep`;
    throw new UsageError('STATE_UNREADABLE', what, { hint, cause });
  }
}

export const save = (folder: string, state: SweepState): void =>
  writeOutput(join(folder, stateFile), JSON.stringify(state));

/** sweep.json and the findings, at most so many. */
function writeSweepReport(folder: string, report: SweepReport, most: number): void {
  writeOutput(join(folder, 'sweep.json'), `${JSON.stringify(report, undefined, 2)}\n`);
  const findings = join(folder, 'findings');
  rmSync(findings, { recursive: true, force: true });
  mkdirSync(findings);
  for (const { file, text } of shrunkFindings(report, { folder: findings, most })) {
    writeOutput(join(findings, file), text);
  }
}
