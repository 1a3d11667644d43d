/** `experiments/sweep.mjs`: schedules that no cluster has time for, on the model. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exitCode, UsageError, type ExitCode } from '../errors.ts';
import { sweepPool } from '../sweep/pool.ts';
import { reportOf, sweepLines, type SweepReport } from '../sweep/report.ts';
import { shrunkFindings } from '../sweep/shrink-findings.ts';
import { newSweep, sweep, type SweepState } from '../sweep/sweep.ts';
import { runCommand } from './command.ts';
import { onInterrupt } from './interrupt.ts';
import { sweepCommand, type SweepFlags } from './sweep-flags.ts';

const stateFile = 'state.json';
const defaultTimeMs = 60_000;
/** Often enough for a killed sweep to lose little. */
const saveEveryMs = 5000;

/** Sweeps as `process.argv` asks, and sets the exit code. Never throws. */
export const runSweep = (): Promise<void> =>
  runCommand('sweep', async (args) => {
    const command = sweepCommand();
    command.parse(args, { from: 'user' });
    return carryOut(command.opts<SweepFlags>());
  });

async function carryOut(flags: SweepFlags): Promise<ExitCode> {
  const folder = flags.out ?? newFolder();
  const from = begin(folder, flags);
  const disk = from.disk === undefined ? '' : ` --disk ${from.disk}`;
  const replay = `npx zx experiments/sweep.mjs --seed ${from.seed}${disk}`;
  process.stderr.write(`seed ${from.seed}\nfolder: ${folder}\nreplay: ${replay}\n`);
  const ended = await explore(from, folder, flags);
  const report = reportOf(ended);
  writeFileSync(join(folder, 'sweep.json'), `${JSON.stringify(report, undefined, 2)}\n`);
  writeFindings(folder, report, flags);
  const lines = [...sweepLines(report), `folder: ${folder}`];
  (flags.json ? process.stderr : process.stdout).write(`${lines.join('\n')}\n`);
  if (flags.json) process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
  return report.surprises.length === 0 ? exitCode.expected : exitCode.unexpected;
}

function newFolder(): string {
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
  return join('reports', `${time}-sweep-${randomBytes(4).toString('hex')}`);
}

/** Where the folder has a sweep, its state. Throws UsageError `OUT_NOT_EMPTY`, `OTHER_SWEEP`. */
function begin(folder: string, { seed, disk }: SweepFlags): SweepState {
  mkdirSync(folder, { recursive: true });
  const files = readdirSync(folder);
  if (files.length === 0) return newSweep(seed ?? randomBytes(8).toString('hex'), disk);
  if (!files.includes(stateFile)) {
    throw new UsageError('OUT_NOT_EMPTY', `${folder} has something else than a sweep in it`, {
      hint: 'give --out a folder that is new, empty, or holds a sweep to go on with',
    });
  }
  const state = JSON.parse(readFileSync(join(folder, stateFile), 'utf8')) as SweepState;
  const isSame = (seed ?? state.seed) === state.seed && (disk ?? state.disk) === state.disk;
  if (isSame) return state;
  throw new UsageError('OTHER_SWEEP', `${folder} has a sweep with another seed or disk in it`, {
    hint: `leave --seed and --disk out to go on with it (${state.seed}), or give another --out`,
  });
}

async function explore(
  from: SweepState,
  folder: string,
  { schedules, time, threads }: SweepFlags,
): Promise<SweepState> {
  const startedMs = performance.now();
  const elapsedMs = (): number => performance.now() - startedMs;
  const timeMs = time ?? (schedules === undefined ? defaultTimeMs : Infinity);
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  using interrupt = onInterrupt(say, () => 'the round that was running');
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
      say(progressLine(state, state.next - from.next, elapsedMs()));
    },
  });
  save(folder, ended);
  return ended;
}

function progressLine({ next, tally }: SweepState, played: number, elapsedMs: number): string {
  const perMinute = Math.round((played / elapsedMs) * 60_000);
  const findings = Object.keys(tally.findings).length;
  const seconds = Math.round(elapsedMs / 1000);
  return `[${seconds} s] ${next} schedules, ${perMinute} a minute, ${findings} findings`;
}

/** Whole or not at all. */
function save(folder: string, state: SweepState): void {
  const path = join(folder, stateFile);
  writeFileSync(`${path}.new`, JSON.stringify(state));
  renameSync(`${path}.new`, path);
}

function writeFindings(folder: string, report: SweepReport, { findings }: SweepFlags): void {
  const findingsFolder = join(folder, 'findings');
  rmSync(findingsFolder, { recursive: true, force: true });
  mkdirSync(findingsFolder);
  for (const { file, text } of shrunkFindings(report, { folder: findingsFolder, most: findings })) {
    writeFileSync(join(findingsFolder, file), text);
  }
}
