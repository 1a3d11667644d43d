/** `forcedetach matrix FILE`: every cell of a matrix, and a report of them all. */
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { availableParallelism, freemem } from 'node:os';
import type { Command } from 'commander';
import type { PooledClusters } from '../../kind/index.ts';
import { basisOf, stockTimersMs } from '../../scenario/index.ts';
import {
  exitCode,
  UsageError,
  type ExitCode,
  kubernetesDefault,
  plainText,
  paste,
  typed,
} from '../../core/index.ts';
import {
  type Batch,
  clustersFor,
  loadLimitOf,
  slotsOf,
  cellsOf,
  type Cell,
  eventsOf,
  sharesCluster,
  readMatrix,
  type Matrix,
  batchPlanOf,
  type BatchPlan,
  type BatchTrial,
  readResults,
  type Slot,
  onKubernetes,
  shorten,
} from '../../batch/index.ts';
import { lockBatch, batchLines, readBatch, writeBatch } from '../batch/write-batch.ts';
import type { BackendChoice } from '../library/backend-choice.ts';
import { chooseBackend, removeCluster } from '../library/backend.ts';
import { exits, say as sayLine, tell } from '../command.ts';
import { exitCodeUnder, verdictsIn } from '../fail-on.ts';
import { onInterrupt } from '../guard.ts';
import { rememberGiven } from '../flags/flags.ts';
import { matrixCommand, type MatrixFlags } from '../flags/matrix-flags.ts';
import { describeBatch } from '../terminal/describe-batch.ts';
import { refuseInBatch, refuseUnfit } from '../library/refusals.ts';
import { checkFolder, folderName, makeFolder } from '../library/run-folder.ts';
import type { Conclusion, TrialOutputRequest } from '../batch/trial-outputs.ts';
import type { EventSetting } from '../batch/matrix-run.ts';

interface Request extends Pick<EventSetting, 'choice' | 'flags' | 'slots'> {
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
  const folder = flags.out ?? newFolder(matrix);
  checkFolder(folder);
  const begun = readResults(folder);
  const drawn = (): string => randomBytes(8).toString('hex');
  const seed = flags.seed ?? begun?.head.seed ?? matrix.seed ?? drawn();
  const plan = batchPlanOf(matrix, cells, seed);
  const scenarios = plan.trials.map(({ scenario }) => scenario);
  for (const scenario of scenarios) refuseInBatch(scenario);
  const longest = scenarios.map(({ forceDetachAfterMs }) => forceDetachAfterMs);
  const forceDetachAfterMs =
    longest.find((ms) => ms !== stockTimersMs.forceDetachAfterMs) ??
    stockTimersMs.forceDetachAfterMs;
  const kubernetes = scenarios[0]?.kubernetes ?? kubernetesDefault;
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

const newFolder = ({ name }: Matrix): string =>
  folderName(`matrix-${name}`, randomBytes(4).toString('hex'));

/** A real event takes minutes, whoever shares it; on the model a cell alone is done in seconds. */
const volumesOf = ({ isModel }: BackendChoice, { volumes }: MatrixFlags): number =>
  volumes ?? (isModel ? 1 : 8);

/** The model needs no machine: its time is virtual. */
function slotsFor(choice: BackendChoice, flags: MatrixFlags, plan: BatchPlan): Slot[] {
  if (choice.isModel) return slotsOf('model', 1);
  const volumes = volumesOf(choice, flags);
  const events = eventsOf(plan.trials.filter(sharesCluster), (trial) => trial, volumes);
  const pools = Math.max(1, Math.min(flags.pools, events.length));
  const machine = { cores: availableParallelism(), availableMemoryBytes: freemem() };
  const isShortened = plan.trials.every(
    ({ scenario }) => basisOf(choice, scenario) === 'shortened',
  );
  const carried = clustersFor(machine, { pools, isShortened });
  const names = flags.clusterNames ?? carried.map((_, index) => `matrix-${index + 1}`);
  return [...new Set(names)].flatMap((name, index) =>
    slotsOf(name, index === 0 ? (carried[0] ?? 1) : 1),
  );
}

async function carryOut(request: Request): Promise<ExitCode> {
  const { flags, folder } = request;
  const description = `${describeBatch(request, commandOf(request))}\n`;
  if (flags.dryRun) {
    (flags.json ? sayLine : tell)(`${description}dry run: nothing was created`);
    return exitCode.expected;
  }
  const baseline = flags.baseline === undefined ? undefined : readBatch(flags.baseline);
  process.stderr.write(plainText(description));
  makeBatchFolder(folder);
  const lock = await lockBatch(folder);
  try {
    return await runAndReport(request, baseline);
  } finally {
    await lock.release();
  }
}

async function runAndReport(request: Request, baseline: Batch | undefined): Promise<ExitCode> {
  const { flags, folder, plan } = request;
  const { summarizeBatch, batchExitCode } = await import('../../batch/index.ts');
  const found = summarizeBatch(plan, await run(request));
  const batch = await writeBatch(folder, found, commandOf(request), baseline);
  (flags.json ? sayLine : tell)(batchLines(batch, folder));
  if (flags.json) process.stdout.write(`${JSON.stringify(batch, undefined, 2)}\n`);
  return exitCodeUnder(flags.failOn, batchExitCode(batch), verdictsIn(batch));
}

/** A folder that has a batch is gone on with. Throws UsageError `OUT_NOT_EMPTY` for any other. */
function makeBatchFolder(folder: string): void {
  makeFolder(folder);
  if (readdirSync(folder).length === 0 || readResults(folder) !== undefined) return;
  throw new UsageError('OUT_NOT_EMPTY', `${folder} contains files that are not of a batch`, {
    hint: 'give --out a new or an empty folder, or one with a batch to continue',
    again: ['--out', `${folder}-2`],
  });
}

async function run(request: Request): Promise<Awaited<ReturnType<typeof runBatchOf>>> {
  const startedMs = performance.now();
  const say = (line: string): void => {
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
    sayLine(`[${seconds} s] ${line}`);
  };
  using interrupt = onInterrupt(say, () => 'the running trials');
  try {
    return await runBatchOf(request, say, interrupt.signal);
  } catch (error) {
    if (!(error instanceof UsageError)) {
      say(`continue with: ${commandOf(request)} ${whereOf(request)}`);
    }
    throw error;
  } finally {
    if (request.choice.images !== undefined && !request.flags.keep)
      for (const name of new Set(request.slots.map(({ cluster }) => cluster)))
        await removeCluster(name, say);
  }
}

async function runBatchOf(request: Request, say: (line: string) => void, signal: AbortSignal) {
  const { runBatch } = await import('../../batch/index.ts');
  const { runEvent, trialOutputs } = await import('../batch/matrix-run.ts');
  const { WorkerPool } = await import('../../core/index.ts');
  const { plan, folder, choice, flags, slots } = request;
  const replay = ({ kind, subject }: BatchTrial): string =>
    commandOf(request, kind === 'control' ? undefined : subject);
  await makeImages(request, say);
  const clusters = await pooledClusters(choice);
  await using conclude = new WorkerPool<TrialOutputRequest, Conclusion>(trialOutputs, 1);
  return await runBatch({
    plan,
    folder,
    backend: choice.backend,
    isModel: choice.isModel,
    slots,
    volumes: volumesOf(choice, flags),
    ...(choice.isModel ? {} : { loadLimit: loadLimitOf(availableParallelism()) }),
    run: (runs, where) =>
      runEvent(runs, where, { choice, flags, slots, clusters, replay, conclude, onProgress: say }),
    wallMs: () => Date.now(),
    onProgress: say,
    signal,
  });
}

async function pooledClusters({ images }: BackendChoice): Promise<PooledClusters | undefined> {
  if (images === undefined) return undefined;
  const { PooledClusters } = await import('../../kind/index.ts');
  return new PooledClusters();
}

/** Each version's once, before trials that run side by side would all make them. */
async function makeImages(
  { choice: { images }, plan }: Request,
  onProgress: (line: string) => void,
): Promise<void> {
  if (images === undefined) return;
  const { ensureImages } = await import('../../kind/index.ts');
  for (const kubernetes of new Set(plan.trials.map(({ scenario }) => scenario.kubernetes))) {
    const { source, registry } = images;
    const provisioner = plan.trials.some(
      ({ scenario }) => scenario.kubernetes === kubernetes && scenario.provision === 'dynamic',
    );
    await ensureImages({ source, registry, kubernetes, provisioner, onProgress });
  }
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
