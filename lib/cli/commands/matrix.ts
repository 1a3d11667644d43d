/** `forcedetach matrix FILE`: every cell of a matrix, and a report of them all. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync } from 'node:fs';
import { availableParallelism, freemem } from 'node:os';
import { InvalidArgumentError, type Command } from 'commander';
import {
  type BatchPlan,
  type BatchTrial,
  type Cell,
  type EventPlace,
  type RunOutcome,
  type Slot,
  type TrialRun,
  batchExitCode,
  batchPlanOf,
  cellsOf,
  clustersFor,
  eventsOf,
  loadLimitOf,
  onKubernetes,
  readMatrix,
  readResults,
  runBatch,
  sharesCluster,
  shorten,
  slotsOf,
  summarizeBatch,
} from '../../batch/index.ts';
import {
  type ExitCode,
  EvidenceError,
  exitCode,
  kubernetesDefault,
  moduleBeside,
  paste,
  plainText,
  typed,
  UsageError,
  WorkerPool,
  realClock,
} from '../../core/index.ts';
import type { PooledClusters } from '../../kind/index.ts';
import { mysql } from '../../mysql/index.ts';
import { kindWorkers, mostPools, type Backend, type VolumeRunOptions } from '../../run/index.ts';
import { basisOf, imagesBeside, stockTimers } from '../../scenario/index.ts';
import { commandLine, exits, say as sayLine, tell } from '../command.ts';
import { exitCodeUnder, failOnOption, verdictsIn } from '../fail-on.ts';
import {
  clusterName,
  kubernetes,
  nonEmpty,
  numberWithin,
  oneOf,
  seedText,
  workerCount,
  workersWords,
} from '../flags/flag-values.ts';
import { rememberGiven, unusedFlags, whereOption as where, type RunFlags } from '../flags/flags.ts';
import { onInterrupt } from '../guard.ts';
import { chooseBackend, openBackend, removeCluster } from '../library/backend.ts';
import type { BackendChoice } from '../library/run-plan.ts';
import { checkFolder, folderName, makeFolder, modelRunId } from '../library/run-folder.ts';
import { refuseInBatch, refuseUnfit } from '../library/run-plan.ts';
import { batchLines, lockBatch, readBatch, writeBatch } from './batch.ts';
import type { Conclusion, TrialOutputRequest } from './trial-outputs.ts';

interface MatrixFlags extends Omit<RunFlags, 'clusterName' | 'diskFrom' | 'diskClass'> {
  readonly clusterNames?: readonly string[];
  readonly kubernetes?: string;
  readonly volumes?: number;
  readonly pools: number;
  readonly only?: string;
  /** One of so many parts, from 1. */
  readonly shard?: { readonly number: number; readonly of: number };
  readonly short: boolean;
  readonly baseline?: string;
  readonly reports: TrialOutputRequest['reports'];
}

const defaultMatrix = 'experiments/matrices/default.yaml';

function part(text: string): NonNullable<MatrixFlags['shard']> {
  const [, number = 0, of = 0] = /^(\d+)\/(\d+)$/.exec(text)?.map(Number) ?? [];
  if (number >= 1 && number <= of) return { number, of };
  throw new InvalidArgumentError('Give a part such as 1/3.');
}

/** Volumes under one fault: each has its writers, its image and its audit. */
const mostVolumes = 64;

export const matrixCommand = (): Command =>
  commandLine(typed('matrix'), [
    [
      'every kind of disk, predicted in minutes',
      'experiments/matrices/disks.yaml --cluster sim --reports unexpected',
    ],
    [
      'show what would be measured with shortened timers',
      'experiments/matrices/short.yaml --cluster kind --images built --dry-run',
    ],
    [
      'the first of three machines',
      '--shard 1/3 --seed nightly --cluster kind --out reports/shard-1',
    ],
  ])
    .description(
      'Runs every cell of a matrix, with controls, and reports which are safe. The same command\n' +
        'with the same --out continues a batch that was killed.',
    )
    .argument('[file]', 'matrix file, see docs/reference/matrix.md', defaultMatrix)
    .addOption(where('cluster'))
    .option(
      '--cluster-names <list>',
      'kind clusters; the first one has the pools (default: as many as cores and memory allow)',
      (text: string) => text.split(',').map(clusterName),
    )
    .addOption(where('images'))
    .addOption(where('registry'))
    .option(
      '--kubernetes <version>',
      'a minor version or a patch, for all cells (default: from the file)',
      kubernetes,
    )
    .option('--workers <n>', `of each pool: ${workersWords}`, workerCount)
    .option(
      '--volumes <n>',
      'most cells under one fault event, each with a volume on the victim (default: 8 on kind, 1 on the model)',
      numberWithin(1, mostVolumes),
    )
    .option(
      '--pools <n>',
      'on kind: pools of worker nodes in the first cluster, one for each fault event',
      numberWithin(1, mostPools),
      1,
    )
    .option('--keep', 'keep the clusters for the next batch', false)
    .option('--only <text>', 'only cells whose id or label contains this; controls always run')
    .option('--shard <i/n>', 'every n-th cell from the i-th; merge-batches joins them', part)
    .option('--short', 'shortened timers (10 s, 10 s, 30 s) instead of those in the file', false)
    .option(
      '--seed <text>',
      'seed for the order and every random draw (default: from the file, else random)',
      seedText,
    )
    .option('--out <folder>', 'folder of the batch; if it has one, continue it', nonEmpty)
    .option('--baseline <folder>', 'a batch to compare with; its batch.json is copied', nonEmpty)
    .addOption(
      oneOf(
        '--reports <which>',
        'which runs get their own page (2 MB each)',
        ['all', 'unexpected'],
        'all',
      ),
    )
    .addOption(failOnOption())
    .option('--json', 'batch.json on stdout, everything else on stderr', false)
    .option('--dry-run', 'show cells and order; create nothing', false);

interface Request {
  readonly choice: BackendChoice;
  readonly flags: MatrixFlags;
  readonly slots: readonly Slot[];
  readonly file: string;
  readonly plan: BatchPlan;
  readonly folder: string;
  /** Flags as they were typed. */
  readonly given: ReadonlyMap<string, readonly string[]>;
}

/** Runs the batch and writes its outputs. */
export function matrix(): Command {
  const command = matrixCommand();
  const given = rememberGiven(command);
  return command.action(
    exits(async (file: string, flags: MatrixFlags) =>
      carryOut({ ...(await requestOf(file, flags)), given }),
    ),
  );
}

async function requestOf(file: string, flags: MatrixFlags): Promise<Omit<Request, 'given'>> {
  const read = readMatrix(file, sayLine);
  const versioned = flags.kubernetes === undefined ? read : onKubernetes(read, flags.kubernetes);
  const matrix = flags.short ? shorten(versioned) : versioned;
  const cells = chosen(cellsOf(matrix), file, flags);
  const folder = flags.out ?? folderName(`matrix-${matrix.name}`, randomBytes(4).toString('hex'));
  checkFolder(folder);
  const seed =
    flags.seed ?? readResults(folder)?.head.seed ?? matrix.seed ?? randomBytes(8).toString('hex');
  const plan = batchPlanOf(matrix, cells, seed);
  const scenarios = plan.trials.map(({ scenario }) => scenario);
  for (const scenario of scenarios) refuseInBatch(scenario);
  const stockMs = stockTimers.forceDetachAfter;
  const changed = scenarios.find(({ timers }) => timers.forceDetachAfter !== stockMs);
  const forceDetachAfterMs = changed?.timers.forceDetachAfter ?? stockMs;
  const kubernetes = scenarios[0]?.kubernetes.version ?? kubernetesDefault;
  const choice = await chooseBackend({ ...flags, kubernetes, forceDetachAfterMs });
  for (const scenario of scenarios) refuseUnfit(scenario, choice);
  return { file, flags, plan, folder, choice, slots: slotsFor(choice, flags, plan) };
}

/** Throws UsageError `NO_SUCH_CELL` where nothing is left. */
function chosen(
  cells: readonly Cell[],
  file: string,
  { only, shard }: MatrixFlags,
): readonly Cell[] {
  const found = cells
    .filter((_, index) => shard === undefined || index % shard.of === shard.number - 1)
    .filter(({ id, label }) => only === undefined || `${id} ${label}`.includes(only));
  if (found.length > 0) return found;
  const what =
    only === undefined ? 'this shard has no cell' : `no cell has \`${only}\` in its id or label`;
  throw new UsageError('NO_SUCH_CELL', what, {
    hint: '--dry-run lists the cells',
    command: typed('matrix', [file, '--dry-run']),
  });
}

/** A real event takes minutes, whatever shares it; on the model a cell alone is done in seconds. */
const volumesOf = ({ isModel }: BackendChoice, { volumes }: MatrixFlags): number =>
  volumes ?? (isModel ? 1 : 8);

const isShortened = (plan: BatchPlan, choice: BackendChoice): boolean =>
  plan.trials.every(({ scenario }) => basisOf(choice, scenario) === 'shortened');

/** With stock timers an event mostly waits, and works at its hand-over: about so long, on two cores. */
const stockWorkMs = 90_000;

/** The model needs no machine: its time is virtual. */
function slotsFor(choice: BackendChoice, flags: MatrixFlags, plan: BatchPlan): Slot[] {
  if (choice.isModel) return slotsOf('model', 1);
  const volumes = volumesOf(choice, flags);
  const events = eventsOf(plan.trials.filter(sharesCluster), (trial) => trial, volumes);
  const pools = Math.max(1, Math.min(flags.pools, events.length));
  const machine = { cores: availableParallelism(), availableMemoryBytes: freemem() };
  const carried = clustersFor(machine, { pools, volumes, isShortened: isShortened(plan, choice) });
  const names = flags.clusterNames ?? carried.map((_, index) => `matrix-${index + 1}`);
  return [...new Set(names)].flatMap((name, index) =>
    slotsOf(name, index === 0 ? (carried[0] ?? 1) : 1),
  );
}

async function carryOut(request: Request): Promise<ExitCode> {
  const { flags, folder, plan } = request;
  const print = flags.json ? sayLine : tell;
  const description = `${describe(request)}\n`;
  if (flags.dryRun) {
    print(`${description}dry run: nothing was created`);
    return exitCode.expected;
  }
  const baseline = flags.baseline === undefined ? undefined : readBatch(flags.baseline);
  process.stderr.write(plainText(description));
  makeBatchFolder(folder);
  const lock = await lockBatch(folder);
  try {
    const found = summarizeBatch(plan, await run(request));
    const batch = await writeBatch(folder, found, commandOf(request), baseline);
    print(batchLines(batch, folder));
    if (flags.json) process.stdout.write(`${JSON.stringify(batch, undefined, 2)}\n`);
    return exitCodeUnder(flags.failOn, batchExitCode(batch), verdictsIn(batch));
  } finally {
    await lock.release();
  }
}

/** Seed first, then its size, the backend, the images; the cells in a dry run only. */
function describe(request: Request): string {
  const { plan, folder, choice, flags, slots } = request;
  const { cells, controls, trials, matrix } = plan;
  const checks = trials.filter(({ kind }) => kind === 'check').length;
  const order = trials.map(({ id, alone }) => (alone ? `(${id})` : id)).join(' ');
  const cellLines = cells.map(
    ({ id, label, scenario }) => `  ${id}  ${label}; ${scenario.expected.join(' or ')}`,
  );
  return [
    `seed ${plan.seed}`,
    matrix.question,
    ...(flags.dryRun ? cellLines : []),
    `${cells.length} cells × ${matrix.repeats}, ${controls.length} controls, ${checks} reruns alone: ` +
      `${trials.length} runs`,
    ...(flags.dryRun ? [`order: ${order}`] : []),
    `backend: ${choice.backend}, ${choice.why}; on ${slots.map(({ name }) => name).join(', ')}`,
    ...unusedFlags(matrixCommand().options, flags, choice),
    ...(choice.images === undefined ? [] : [choice.images.reason]),
    `folder: ${folder}`,
    `replay: ${commandOf(request)}`,
  ].join('\n');
}

/** A folder that has a batch is continued. Throws UsageError `OUT_NOT_EMPTY` for any other. */
function makeBatchFolder(folder: string): void {
  makeFolder(folder);
  if (readdirSync(folder).length === 0 || readResults(folder) !== undefined) return;
  throw new UsageError('OUT_NOT_EMPTY', `${folder} contains files that are not of a batch`, {
    hint: 'give --out a new or an empty folder, or one with a batch to continue',
    again: ['--out', `${folder}-2`],
  });
}

async function run(request: Request): ReturnType<typeof runBatch> {
  const { plan, folder, choice, flags, slots } = request;
  const startedMs = performance.now();
  const say = (line: string): void => {
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
    sayLine(`[${seconds} s] ${line}`);
  };
  using interrupt = onInterrupt(say, () => 'the running trials');
  try {
    await makeImages(request, say);
    const clusters = choice.images && new (await import('../../kind/index.ts')).PooledClusters();
    // A worker thread: in the runner's own thread it would stop timers.
    const trialOutputs = moduleBeside('trial-outputs', import.meta);
    await using conclude = new WorkerPool<TrialOutputRequest, Conclusion>(trialOutputs, 1);
    return await runBatch({
      ...{ plan, folder, slots, signal: interrupt.signal, onProgress: say },
      ...{ backend: choice.backend, isModel: choice.isModel, volumes: volumesOf(choice, flags) },
      ...(choice.isModel
        ? {}
        : {
            loadLimit: loadLimitOf(availableParallelism()),
            spacingMs: isShortened(plan, choice) ? 0 : stockWorkMs,
          }),
      run: (runs, where) => runEvent(runs, where, { ...request, clusters, conclude, say }),
      clock: realClock(),
    });
  } catch (error) {
    if (!(error instanceof UsageError)) {
      say(`continue with: ${commandOf(request)} ${whereOf(request)}`);
    }
    throw error;
  } finally {
    if (choice.images !== undefined && !flags.keep) {
      for (const name of new Set(slots.map(({ cluster }) => cluster))) {
        await removeCluster(name, say);
      }
    }
  }
}

/** Each version's once, before trials that run side by side would all make them. */
async function makeImages(
  { choice: { images }, plan }: Request,
  onProgress: (line: string) => void,
): Promise<void> {
  if (images === undefined) return;
  const { ensureImages } = await import('../../kind/index.ts');
  const byVersion = Map.groupBy(plan.trials, ({ scenario }) => scenario.kubernetes.version);
  for (const [kubernetes, trials] of byVersion) {
    const { source, registry } = images;
    const provisioner = trials.some(({ scenario }) => scenario.volume.provision === 'dynamic');
    const transports = trials.map(({ scenario }) => scenario.disk.transport);
    const beside = [...new Set(transports.flatMap(imagesBeside))];
    await ensureImages({ source, registry, kubernetes, provisioner, beside, onProgress });
  }
}

interface EventSetting extends Request {
  /** Undefined where none are made: one event at a time has its own then. */
  readonly clusters: PooledClusters | undefined;
  readonly conclude: WorkerPool<TrialOutputRequest, Conclusion>;
  readonly say: (line: string) => void;
}

/** One promise a trial, which rejects where nothing could be set up; later trouble is in the outcome. */
function runEvent(
  runs: readonly TrialRun[],
  place: EventPlace,
  setting: EventSetting,
): readonly Promise<RunOutcome>[] {
  const recorded = recordEvent(runs, place, setting);
  return runs.map(async ({ folder }, index) => {
    const ended = (await recorded)[index];
    if (ended?.status === 'rejected') throw ended.reason;
    const { reports } = setting.flags;
    const conclusion = await setting.conclude.run({ folder, reports });
    if ('outcome' in conclusion) return conclusion.outcome;
    throw new EvidenceError('NO_VERDICT', `no verdict in ${folder}: ${conclusion.error}`);
  });
}

/** One run with a volume for each trial. */
async function recordEvent(
  runs: readonly TrialRun[],
  place: EventPlace,
  setting: EventSetting,
): Promise<readonly PromiseSettledResult<void>[]> {
  const { oneServer, recordVolumes } = await import('../../run/index.ts');
  const backend = await backendOf(runs.length === 1 && place.room !== 'slot', place, setting);
  const volumes = runs.map((run) => volumeOf(run, place, setting));
  return recordVolumes({ backend, database: mysql, signal: place.signal }, volumes, oneServer);
}

/** `isAlone`: nothing else is on its cluster. */
async function backendOf(
  isAlone: boolean,
  { slot, room }: EventPlace,
  { choice, clusters, flags, slots }: EventSetting,
): Promise<Backend> {
  const pools = slots.filter(({ cluster }) => cluster === slot.cluster);
  // Of the whole cluster, whose pools share them; undefined where the backend decides.
  const workers =
    flags.workers === undefined && pools.length === 1
      ? undefined
      : (flags.workers ?? kindWorkers) * pools.length;
  // Kept for the next event; the batch removes it at its end.
  const size = { clusterName: slot.cluster, workers, keep: true };
  if (clusters === undefined || isAlone) return openBackend(choice, size);
  // An event that has a cluster to itself has all of its nodes.
  const number = room === 'slot' ? pools.indexOf(slot) + 1 : 1;
  const pool = { number, of: room === 'slot' ? pools.length : 1 };
  return openBackend(choice, size, { clusters, pool });
}

function volumeOf(
  { trial, folder }: TrialRun,
  { slot }: EventPlace,
  setting: EventSetting,
): VolumeRunOptions {
  const { isModel } = setting.choice;
  const { scenario, seed, id, kind, subject }: BatchTrial = trial;
  mkdirSync(folder, { recursive: true });
  const say = (line: string): void => {
    if (!isModel) setting.say(`${slot.name} ${id}: ${line}`);
  };
  return {
    ...{ scenario, seed, folder },
    runId: isModel ? modelRunId(seed) : randomBytes(4).toString('hex'),
    replay: commandOf(setting, kind === 'control' ? undefined : subject),
    onProgress: say,
    onPhase: (phase) => say(`— ${phase}`),
  };
}

/** Flags that decide which runs a batch has, and those that it needs besides to be continued. */
const decisive = '--registry --only --kubernetes --workers --short --volumes --shard'.split(' ');
const ofPlace = ['--cluster-names', '--pools', '--keep'];

/** Paste-ready; narrowed to one cell where it is named. */
function commandOf({ file, given, plan, choice }: Request, only?: string): string {
  const images = choice.images === undefined ? [] : ['--images', choice.images.source];
  const words = decisive.flatMap((flag) =>
    flag === '--only' && only !== undefined ? [flag, only] : (given.get(flag) ?? []),
  );
  const start = [file, '--cluster', choice.backend, ...images];
  return typed('matrix', [...start, ...words, '--seed', plan.seed]);
}

const whereOf = ({ folder, given }: Request): string =>
  paste(['--out', folder, ...ofPlace.flatMap((flag) => given.get(flag) ?? [])]);
