/** What a pod of a sweep's Job does: plays the shard of its completion index, prints what came. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DiskMode } from '../../scenario/index.ts';
import { describeError, exitCode, ForcedetachError } from '../../core/index.ts';
import { newSweep, sweep, type SweepShard } from '../sweep.ts';
import { playRange } from '../schedule-range.ts';
import { resultLines } from './output.ts';

/** What all shards of a Job are told. */
export interface ShardPlan {
  readonly seed: string;
  readonly disk?: DiskMode | undefined;
  /** By completion index. */
  readonly shards: readonly SweepShard[];
}

export const planFile = 'plan.json';
/** Ends a pod that met a fault of the model itself: another try would meet it again. */
export const faultExitCode = exitCode.infrastructure;

const sayEveryMs = 10_000;

/** Plays shard `index`; the lines are its result. Throws InfrastructureError `SCHEDULE_FAILED`. */
export async function playShard(
  { seed, disk, shards }: ShardPlan,
  index: number,
  say: (line: string) => void = () => undefined,
): Promise<string[]> {
  const shard = shards[index];
  if (shard === undefined) throw new RangeError(`there is no shard ${index}`);
  let saidMs = performance.now();
  const ended = await sweep({
    pool: { run: (stretch) => Promise.resolve(playRange(stretch)) },
    from: newSweep(seed, disk, shard.from),
    untilIndex: shard.until,
    goesOn: () => true,
    onRound({ next }) {
      if (performance.now() - saidMs < sayEveryMs) return;
      saidMs = performance.now();
      say(`${next - shard.from} of ${shard.until - shard.from} schedules`);
    },
  });
  return resultLines(ended, shard);
}

/** The pod's program. `folder` has the plan. Sets the exit code, never throws. */
export async function runShard(folder: string): Promise<void> {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  try {
    const plan = JSON.parse(readFileSync(join(folder, planFile), 'utf8')) as ShardPlan;
    const lines = await playShard(plan, Number(process.env['JOB_COMPLETION_INDEX']), say);
    say(lines.join('\n'));
  } catch (error) {
    say(describeError(error));
    process.exitCode = error instanceof ForcedetachError ? faultExitCode : 1;
  }
}
