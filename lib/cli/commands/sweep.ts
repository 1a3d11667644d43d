/** `forcedetach sweep`: schedules that no cluster has time for, on the model. */
import type { Command } from 'commander';
import { exitCode, type ExitCode, typed } from '../../core/index.ts';
import { sweepPool, reportOf, sweepLines, sweep, type SweepState } from '../../sweep/index.ts';
import { exits, say, tell } from '../command.ts';
import { onInterrupt } from '../guard.ts';
import { begin, newFolder, save, writeSweepReport } from '../batch/sweep-files.ts';
import { sweepCommand, type SweepFlags } from '../flags/sweep-flags.ts';
import {
  checkClusterFlags,
  exploreOnCluster,
  openSweepCluster,
} from '../batch/sweep-on-cluster.ts';
import { rememberGiven } from '../flags/flags.ts';

const defaultTimeMs = 60_000;
/** Often enough for a killed sweep to lose little. */
const saveEveryMs = 5000;

export function sweepCommandLine(): Command {
  const command = sweepCommand();
  const given = rememberGiven(command);
  return command.action(
    exits((flags: SweepFlags) => {
      checkClusterFlags(flags);
      const replayed = [...given].filter(([flag]) => decidesWhatIsPlayed.includes(flag));
      return carryOut(
        flags,
        replayed.flatMap(([, words]) => words),
      );
    }),
  );
}

/** The seed and the disk are the state's, which an earlier process may have begun. */
const decidesWhatIsPlayed: readonly string[] = ['--schedules', '--time', '--findings'];

async function carryOut(flags: SweepFlags, replayed: readonly string[]): Promise<ExitCode> {
  const access = flags.onCluster ? await openSweepCluster(flags, say) : undefined;
  const folder = flags.out ?? newFolder();
  const from = begin(folder, flags);
  const disk = from.disk === undefined ? [] : ['--disk', from.disk];
  const replay = typed('sweep', ['--seed', from.seed, ...disk, ...replayed]);
  say(`seed ${from.seed}\nfolder: ${folder}\nreplay: ${replay}`);
  const ended =
    access === undefined
      ? await explore(from, folder, flags)
      : await exploreOnCluster({ access, from, folder, flags, say });
  const report = reportOf(ended);
  writeSweepReport(folder, report, flags.findings);
  const lines = [...sweepLines(report), `folder: ${folder}`];
  (flags.json ? say : tell)(lines.join('\n'));
  if (flags.json) process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
  return report.surprises.length === 0 ? exitCode.expected : exitCode.unexpected;
}

async function explore(
  from: SweepState,
  folder: string,
  { schedules, time, threads }: SweepFlags,
): Promise<SweepState> {
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
