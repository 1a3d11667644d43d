/** How busy the machine was under a fault: a race's outcome depends on it. */
import { z } from 'zod';
import { meanOf } from '../../counts.ts';
import type { MachineRecord } from '../../history/events.ts';
import type { Story } from '../../timeline/story.ts';
import { machineRecordsOf } from '../evidence/machine-time.ts';

const spread = z.object({ mean: z.number(), worst: z.number() }).nullable();

/** From the fault to the second image; null where the history does not tell. */
export const pressureSchema = z.object({
  /** PSI avg10 of `some`, percent of the time in which a task waited for it. */
  cpu: spread,
  io: spread,
  memory: spread,
  /** Load average of one minute. */
  load: spread,
  /** How late a timer of a second fired, milliseconds. */
  timerLagMs: spread,
});
export type Pressure = Readonly<z.output<typeof pressureSchema>>;

export function pressureOf(
  story: Pick<Story, 'records' | 'faultAtMs' | 'secondImageAtMs'>,
): Pressure {
  const records = machineRecordsOf(story);
  const of = (figure: keyof MachineRecord): Pressure['cpu'] =>
    spreadOf(records.flatMap((record) => record[figure] ?? []).map(Number));
  return {
    cpu: of('cpuPressure'),
    io: of('ioPressure'),
    memory: of('memoryPressure'),
    load: of('load'),
    timerLagMs: of('timerLagMs'),
  };
}

function spreadOf(values: readonly number[]): Pressure['cpu'] {
  if (values.length === 0) return null;
  return { mean: round(meanOf(values)), worst: round(Math.max(...values)) };
}

const round = (value: number): number => Math.round(value * 100) / 100;
