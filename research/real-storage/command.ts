/** `research/real-storage.mjs`: runs the table of trials, several labs side by side. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { release } from 'node:os';
import { join } from 'node:path';
import { InvalidArgumentError, Option, type Command } from 'commander';
import {
  commandLine,
  imagesOption,
  makeFolder,
  nonEmpty,
  numberWithin,
  onInterrupt,
  parseArguments,
  runCommand,
  say,
  tell,
  type RunFlags as CommonFlags,
} from '../../lib/cli/index.ts';
import { linesOf, noteLines } from '../../lib/batch/index.ts';
import { describeError, exitCode, kubernetesDefault } from '../../lib/core/index.ts';
import { engine, ensureImages, tryRun } from '../../lib/kind/index.ts';
import {
  type CellName,
  cellNames,
  durationS,
  idOf,
  nameOf,
  notRun,
  type Planned,
  planOf,
  type Row,
  rows,
} from './cells.ts';
import { cleanPlaces, imageOf, type LabImages, StorageLab } from './lab.ts';
import { type Evidence, mostLateMs, type Outcome, outcomeFrom } from './outcome.ts';
import { type TrialLine, trialSchema, userInitiator } from './result.ts';
import { everyMs, runTrial } from './trial.ts';

interface Flags extends Pick<CommonFlags, 'images'> {
  readonly rows: readonly Row[];
  readonly cells: readonly CellName[];
  readonly labs: number;
  readonly long: boolean;
  readonly out: string;
  readonly resume: boolean;
  readonly note: boolean;
  readonly librbdCache: boolean;
  readonly list: boolean;
  readonly clean: boolean;
}

/** Runs it and sets the exit code: 0 when every trial ended with an outcome. Never throws. */
export const realStorage = (): Promise<void> =>
  runCommand(async (args) => {
    const flags = parseArguments(realStorageCommand(), args).opts<Flags>();
    if (flags.clean) {
      const used = await cleanPlaces();
      tell(`removed what dead runs left; ${used} labs are in use`);
      return exitCode.expected;
    }
    const known = flags.resume ? readTrials(flags.out) : [];
    const done = new Set(known.map(({ id }) => id));
    const plan = planOf({ ...flags, done }).filter(({ cell }) => flags.cells.includes(cell));
    if (flags.list) {
      list(plan, flags);
      return exitCode.expected;
    }
    const failed = await runAll(plan, flags);
    if (flags.note) noteLines(readTrials(flags.out));
    return failed === 0 ? exitCode.expected : exitCode.infrastructure;
  });

export const realStorageCommand = (): Command =>
  commandLine('npx zx research/real-storage.mjs', [
    ['list what would run, and what has not run', '--list'],
    ['one row', '--rows nbd/cut'],
    ['go on with an interrupted table', '--resume'],
  ])
    .description(
      'What storage protocols do with a node that lost its volume: raw writers, no Kubernetes.',
    )
    .addOption(
      new Option('--rows <names>', `some of ${rows.map(nameOf).join()}, or a protocol`)
        .argParser(rowsOf)
        .default(rows, 'all'),
    )
    .addOption(
      new Option('--cells <names>', `some of ${cellNames.join()}`)
        .argParser(cellsIn)
        .default(cellNames, 'all'),
    )
    .option('--labs <n>', 'trials side by side', numberWithin(1, 16), 6)
    .option('--long', 'also cuts of 10 minutes, once a row', false)
    .addOption(imagesOption())
    .option('--out <folder>', 'folder for the trials', nonEmpty, 'reports/real-storage-trials')
    .option('--resume', 'skip trials that are in the folder', false)
    .addOption(
      new Option(
        '--librbd-cache',
        'RBD with librbd’s cache on, which no run has; not for the table',
      )
        .default(false)
        .conflicts('note'),
    )
    .option('--note', 'add the trials of the folder to data/measurements.jsonl', false)
    .option('--list', 'run nothing; list the trials', false)
    .option('--clean', 'run nothing; remove what dead runs left', false);

function rowsOf(text: string): Row[] {
  return text.split(',').flatMap((word) => {
    const found = rows.filter((row) => row.transport === word || nameOf(row) === word);
    if (found.length > 0) return found;
    throw new InvalidArgumentError(`one of ${rows.map(nameOf).join(', ')}`);
  });
}

const cellsIn = (text: string): CellName[] =>
  text.split(',').map((word) => {
    const found = cellNames.find((each) => each === word);
    if (found === undefined) throw new InvalidArgumentError(`one of ${cellNames.join(', ')}`);
    return found;
  });

function list(plan: readonly Planned[], { labs, rows: asked }: Flags): void {
  for (const planned of plan) tell(idOf(planned));
  const minutes = plan.reduce((sum, { cell }) => sum + durationS(cell), 0) / 60 / labs;
  tell(`${plan.length} trials, about ${Math.ceil(minutes)} minutes with ${labs} labs`);
  const stored = new Set(linesOf(trialSchema).map(({ id }) => id));
  const missing = notRun(asked, stored);
  tell(`${missing.length} cells have no trial in data/measurements.jsonl`);
  for (const cell of missing) tell(`not run: ${cell}`);
}

/** What is stored of a trial: the outcome is read from the evidence anew. */
interface Stored {
  readonly planned: Planned;
  readonly evidence: Evidence;
  readonly versions: TrialLine['versions'];
  readonly date: string;
}

const suffix = '.json.zst';
const fileOf = (out: string, planned: Planned): string =>
  join(out, `${idOf(planned).replaceAll(/[ /]/g, '-')}${suffix}`);

const readTrials = (out: string): TrialLine[] =>
  (existsSync(out) ? readdirSync(out) : [])
    .filter((name) => name.endsWith(suffix))
    .map((name) => zstdDecompressSync(readFileSync(join(out, name))).toString())
    .map((text) => lineOf(JSON.parse(text) as Stored));

/** Resolves to the number of trials that failed. */
async function runAll(plan: readonly Planned[], flags: Flags): Promise<number> {
  makeFolder(flags.out);
  using interrupt = onInterrupt(say, () => 'the trials');
  const { signal } = interrupt;
  const source = flags.images;
  const server = plan.some(({ row }) => row.transport === 'rbd') ? (['ceph'] as const) : [];
  const beside = ['initiator' as const, ...server];
  const request = { source, kubernetes: kubernetesDefault, beside, onProgress: say };
  const { tools, array, initiator = '', ceph } = await ensureImages(request);
  const images = { tools, array, initiator, ceph };
  const versions = await versionsOf(images);
  const left = [...plan];
  let failed = 0;
  const work = async (): Promise<void> => {
    await using lab = await StorageLab.open(images, flags.librbdCache);
    for (let planned = left.shift(); planned !== undefined; planned = left.shift()) {
      const evidence = await evidenceOf(lab, planned, signal);
      if (signal.aborted) return;
      if (evidence === undefined) {
        failed += 1;
        continue;
      }
      const about = { versions: versions(planned.row.transport), date: new Date().toISOString() };
      const text = JSON.stringify({ planned, evidence, ...about } satisfies Stored);
      writeFileSync(fileOf(flags.out, planned), zstdCompressSync(text));
    }
  };
  const labs = Math.min(flags.labs, plan.length);
  const ended = await Promise.allSettled(Array.from({ length: labs }, work));
  signal.throwIfAborted();
  for (const lab of ended) if (lab.status === 'rejected') throw lab.reason;
  return failed;
}

/** Once more where the machine was too busy, or the machinery failed. */
async function evidenceOf(
  lab: StorageLab,
  planned: Planned,
  signal: AbortSignal,
): Promise<Evidence | undefined> {
  let late: Evidence | undefined;
  for (let attempt = 1; attempt <= 2 && !signal.aborted; attempt += 1) {
    try {
      const evidence = await runTrial(lab, planned, signal);
      const outcome = outcomeFrom(evidence);
      say(`${idOf(planned)}: ${inWords(outcome)}`);
      if (outcome.lateMs <= mostLateMs) return evidence;
      late = evidence;
      say(`${idOf(planned)}: timers were ${outcome.lateMs} ms late`);
    } catch (error) {
      if (signal.aborted) return undefined;
      say(`${idOf(planned)} FAILED: ${describeError(error)}`);
    }
  }
  return late;
}

const inWords = ({ revoked, healed, givenBack, second, failed }: Outcome): string =>
  [
    `revoked: ${revoked.at}, ${revoked.acks} acks${revoked.error === null ? '' : `, ${revoked.error} after ${revoked.errorMs} ms`}`,
    healed && `healed: ${healed.at}, ${healed.landed} landed (${healed.replayed} replayed)`,
    givenBack && `given back: ${givenBack.at}, ${givenBack.landed} landed`,
    `second: ${second.failed ?? `${second.firstAckMs} ms`}`,
    failed,
  ]
    .filter(Boolean)
    .join('; ');

const lineOf = ({ planned, evidence, versions, date }: Stored): TrialLine => ({
  kind: 'storage-trial',
  id: idOf(planned),
  scenario: {
    ...planned.row,
    ...{ cell: planned.cell, repeat: planned.repeat, initiator: userInitiator, everyMs },
  },
  seed: null,
  outcome: outcomeFrom(evidence),
  basis: null,
  versions,
  source: 'npx zx research/real-storage.mjs',
  date,
});

/** How each program says its version. */
const programs = {
  nfs: ['ganesha.nfsd', '-v'],
  iscsi: ['tgtd', '--version'],
  rbd: ['ceph', '--version'],
} as const;

async function versionsOf(
  images: LabImages,
): Promise<(transport: string) => TrialLine['versions']> {
  const ask = async (image: string, program: string, flag: string): Promise<string> => {
    const flags = ['--network', 'none', '--entrypoint', program];
    const { stdout } = await tryRun(engine.runOnce(flags, image, flag));
    return /\d+\.[\d.]+/.exec(stdout)?.[0] ?? 'unknown';
  };
  const common = {
    kernel: release(),
    [userInitiator]: await ask(images.initiator, userInitiator, '--version'),
  };
  const servers = new Map<string, TrialLine['versions']>();
  for (const [transport, [program, flag]] of Object.entries(programs)) {
    if (!rows.some((row) => row.transport === transport)) continue;
    servers.set(transport, { [program]: await ask(imageOf(transport, images), program, flag) });
  }
  return (transport) => ({ ...common, ...servers.get(transport) });
}
