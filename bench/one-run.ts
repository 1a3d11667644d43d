/**
 * What the one run costs on the model beside the sweep's player, for schedules of one sweep, and what is
 * left of it without its parts. Fails once it is fast enough without them: then the player may go
 * (docs/decisions/runs.md). `--count n`: so many runs; default 100.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { simBackend } from '../lib/sim/backend.ts';
import type { Testbed } from '../lib/run/ports/cluster.ts';
import { oneServer, runScenario } from '../lib/run/run.ts';
import type { RunOptions, Tested } from '../lib/run/run-context.ts';
import { recordRun } from '../lib/run/sequence.ts';
import { scheduleAt, sweepKey, type Schedule } from '../lib/sweep/schedule.ts';
import { play } from '../lib/sweep/play.ts';
import type { BenchContext, BenchResult } from './support/bench.ts';
import { mysql } from '../lib/mysql/database.ts';

/** On two threads, for 500,000 schedules a minute. */
const targetCpuMs = 0.24;
const seed = 'bench';
/** So many, twice: first until the engine has compiled what it will. */
const plays = 3000;

/** Nothing is copied, and so nothing audited. */
const withoutImages: Tested<Testbed> = {
  ...oneServer,
  stepsOn(context) {
    const { cold: _cold, ...steps } = oneServer.stepsOn(context);
    return { ...steps, image: () => Promise.resolve() };
  },
};

const idle = (options: RunOptions): RunOptions => ({
  ...options,
  scenario: { ...options.scenario, load: { ...options.scenario.load, rate: 0 } },
});

/** Each is without what those before it are without. */
const stages: Readonly<Record<string, (schedule: Schedule) => unknown>> = {
  'the one run': inFolder(runScenario),
  'without its verdict': inFolder((options) => recordRun(options, oneServer)),
  'without images and rows': inFolder((options) => recordRun(options, withoutImages)),
  'without commits': inFolder((options) => recordRun(idle(options), withoutImages)),
};
const player = ({ scenario, seed }: Schedule): unknown => play(scenario, seed);

export default async function bench({
  onProgress,
  count = 100,
}: BenchContext): Promise<BenchResult> {
  const schedules = schedulesOf(count);
  const cpuMs: Record<string, number> = {};
  for (const [stage, perform] of Object.entries(stages)) {
    cpuMs[stage] = await costOf(schedules, perform);
    onProgress(`${stage}: ${cpuMs[stage]} ms`);
  }
  const many = schedulesOf(plays);
  await costOf(many, player);
  cpuMs['the player'] = await costOf(many, player);
  return {
    ok: (cpuMs['without commits'] ?? 0) > targetCpuMs,
    data: { targetCpuMs, count, cpuMs },
    lines: Object.entries(cpuMs).map(([stage, ms]) => `${stage}: ${ms} ms of CPU a schedule`),
  };
}

function schedulesOf(count: number): readonly Schedule[] {
  const source = { seed, key: sweepKey(seed), corpus: [] };
  return Array.from({ length: count }, (_, index) => scheduleAt(source, index));
}

/** CPU time of one, ms; the mean. */
async function costOf(
  schedules: readonly Schedule[],
  perform: (schedule: Schedule) => unknown,
): Promise<number> {
  const before = process.cpuUsage();
  for (const schedule of schedules) await perform(schedule);
  const { user, system } = process.cpuUsage(before);
  return Math.round((user + system) / schedules.length) / 1000;
}

function inFolder(record: (options: RunOptions) => Promise<unknown>) {
  return async ({ scenario, seed }: Schedule): Promise<void> => {
    const folder = mkdtempSync(join(tmpdir(), 'forcedetach-bench-'));
    const quiet = { onProgress: () => undefined, onPhase: () => undefined };
    const { signal } = new AbortController();
    const about = { database: mysql, runId: 'run', replay: 'none', backend: simBackend(), signal };
    try {
      await record({ scenario, seed, folder, ...about, ...quiet });
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
}
