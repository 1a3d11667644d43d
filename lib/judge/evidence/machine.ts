/** Did the machine keep time, and how busy was it? A run that starved for processor time proves nothing of times. */
import { z } from 'zod';
import { meanOf } from '../../core/index.ts';
import { type MachineRecord, observed } from '../../history/index.ts';
import { sparesVictim } from '../../scenario/index.ts';
import { type Reason, because } from '../facts/witnessed.ts';
import type { Story } from '../timeline/story.ts';

const machineLate = 'MACHINE_LATE';
const leaderLost = 'LEADER_LOST';

/** Its machine kept no time, so that a run's times are no measurement. */
export const isStarved = (reasons: readonly Reason[]): boolean =>
  reasons.some(({ code }) => code === machineLate || code === leaderLost);

/** A timer that fires later than this says the machine did not keep time. */
const timerLagLimitMs = 2000;

type TimedStory = Pick<Story, 'records' | 'faultAtMs' | 'secondImageAtMs'>;

/** From the fault to the second image: nothing before or after depends on the time it takes. */
function machineRecordsOf(span: TimedStory): MachineRecord[] {
  const { records, faultAtMs = 0, secondImageAtMs } = span;
  const untilMs = secondImageAtMs ?? Number.POSITIVE_INFINITY;
  return records
    .filter((record) => record.type === 'machine')
    .filter(({ t }) => t >= faultAtMs && t < untilMs);
}

/** How late each timer of a second fired, milliseconds, from the fault to the second image. */
export const timerLagsOf = (span: TimedStory): number[] =>
  machineRecordsOf(span).map((each) => each.timerLagMs);

export function lateTimers(story: Story): Reason[] {
  const lateMs = Math.round(Math.max(0, ...timerLagsOf(story)));
  const words = `the machine did not keep time: a timer fired ${lateMs} ms late`;
  return lateMs > timerLagLimitMs ? [because(machineLate, words, { lateMs })] : [];
}

/**
 * A controller manager that could not renew its lease in time ends itself, and the next one begins every wait
 * anew: where nothing in the scenario keeps it from that, the machine did.
 */
export function lostLeaders({ scenario, observations, run, faultAtMs, healAtMs }: Story): Reason[] {
  const { fault, also } = scenario;
  const isOwn =
    run.custom?.fault !== undefined || [fault, also].some(({ kind }) => sparesVictim(kind));
  const taken = observations.filter(
    ({ t, name }) =>
      name === observed.leaderAcquired && t >= (faultAtMs ?? healAtMs) && t < healAtMs,
  );
  if (isOwn || taken.length === 0) return [];
  const words =
    'the machine did not keep time: a controller manager lost its lease, and its waits began again';
  return [because(leaderLost, words, { count: taken.length })];
}

/** How busy the machine was under a fault: a race's outcome depends on it. */
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

export function pressureOf(story: TimedStory): Pressure {
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
