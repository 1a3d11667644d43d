/**
 * How fast the model explores: schedules a minute on all cores, how much virtual time passes in that,
 * memory while it goes on, and what one schedule costs with ever more nodes and volumes.
 */
import { availableParallelism } from 'node:os';
import { parseScenario } from '../lib/scenario/scenario.ts';
import { play } from '../lib/sweep/play.ts';
import { sweepPool, type SweepPool, newSweep, sweep, type SweepState } from '../lib/sweep/sweep.ts';
import { type BenchContext, type BenchResult, median } from './support/bench.ts';

const sweepMs = 30_000;
const target = { schedulesPerMinute: 500_000, timesRealTime: 1_000_000 };
/** So many nodes, and as many volumes with a database each. */
const sizes = [3, 30, 300];
const playsPerSize = 5;
/** Until the engine has compiled what it will. */
const warmUpPlays = 500;

export default async function bench({ onProgress }: BenchContext): Promise<BenchResult> {
  const speed = await sweepFor(sweepMs, onProgress);
  for (let n = 0; n < warmUpPlays; n++) play(partition, `warm ${n}`);
  const cpuMsBySize = Object.fromEntries(sizes.map((size) => [size, costOf(size)]));
  const data = { target, ...speed, cpuMsBySize };
  const { schedulesPerMinute, timesRealTime, peakRssMiB } = speed;
  return {
    ok: schedulesPerMinute >= target.schedulesPerMinute && timesRealTime >= target.timesRealTime,
    data,
    lines: [
      `${schedulesPerMinute} schedules a minute on ${speed.threads} threads ` +
        `(target ${target.schedulesPerMinute}), ${speed.cpuMsPerSchedule} ms of CPU each`,
      `${timesRealTime} times real time (target ${target.timesRealTime})`,
      `memory: ${speed.rssMiB.join(', ')} MiB on the way, ${peakRssMiB} MiB at the peak`,
      ...sizes.map((size) => `${size} nodes and volumes: ${cpuMsBySize[size]} ms of CPU each`),
    ],
  };
}

interface Speed {
  readonly threads: number;
  readonly schedules: number;
  readonly schedulesPerMinute: number;
  /** Seconds of virtual time of all schedules, per second. */
  readonly timesRealTime: number;
  /** Where the machine is busy with others, this tells more than the rate. */
  readonly cpuMsPerSchedule: number;
  readonly peakRssMiB: number;
  /** After each fifth of the time. */
  readonly rssMiB: readonly number[];
}

async function sweepFor(ms: number, onProgress: (line: string) => void): Promise<Speed> {
  const threads = availableParallelism();
  await using pool = sweepPool(threads);
  const warm = await sweep({ ...rounds(pool), untilIndex: 4000, goesOn: () => true });
  onProgress(`sweeping for ${ms / 1000} s after ${warm.next} schedules to warm up`);
  const startedMs = performance.now();
  const cpuBefore = process.cpuUsage();
  const elapsedMs = (): number => performance.now() - startedMs;
  const rssMiB: number[] = [];
  const { next, tally } = await sweep({
    ...rounds(pool),
    untilIndex: Infinity,
    goesOn: () => elapsedMs() < ms,
    onRound: () => {
      if (elapsedMs() < (ms / 5) * (rssMiB.length + 1)) return;
      rssMiB.push(Math.round(process.memoryUsage.rss() / 2 ** 20));
    },
  });
  const tookMs = elapsedMs();
  const { user, system } = process.cpuUsage(cpuBefore);
  return {
    threads,
    schedules: next,
    schedulesPerMinute: Math.round((next / tookMs) * 60_000),
    timesRealTime: Math.round(tally.virtualMs / tookMs),
    cpuMsPerSchedule: rounded((user + system) / 1000 / next),
    peakRssMiB: Math.round(process.resourceUsage().maxRSS / 1024),
    rssMiB,
  };
}

const rounds = (pool: SweepPool): { pool: SweepPool; from: SweepState; onRound: () => void } => ({
  pool,
  from: newSweep('bench'),
  onRound: () => undefined,
});

const partition = parseScenario({
  ...{ name: 'bench', question: 'How much does one schedule cost?' },
  fault: { kind: 'network-partition' },
  remedy: { kind: 'force-delete' },
  expected: ['lost'],
});

/** Milliseconds of CPU time for one schedule; the median. */
function costOf(size: number): number {
  const times = Array.from({ length: playsPerSize }, (_, n) => {
    const before = process.cpuUsage();
    play(partition, `size ${size}/${n}`, { nodes: size, volumes: size });
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return rounded(median(times));
}

const rounded = (value: number): number => Math.round(value * 1000) / 1000;
