/** Did each observer see, all the time, and do they agree? */
import { z } from 'zod';
import { meanOf, silencesIn, toldInSeconds } from '../../core/index.ts';
import {
  type MachineRecord,
  type ObservationRecord,
  type RunRecord,
  beatWithinMs,
  observed,
} from '../../history/index.ts';
import { type Reason, because } from '../facts/witnessed.ts';
import { isGroupRun } from '../group/story.ts';
import { type Story, lookedUntilMs } from '../timeline/story.ts';
import { isDirectory } from '../../scenario/index.ts';

/** For each source that nobody watched, or not all the time. */
export function observerGaps(story: Story): Reason[] {
  const { tells, faultAtMs, records, run } = story;
  if (!tells.ends || faultAtMs === undefined) return [];
  const gaps = neededSources(story).flatMap((source) => gapsOf(story, source));
  if (isPredicted(run)) return gaps;
  const looked = records.filter(({ type }) => type === 'machine').map(({ t }) => t);
  return [
    ...gaps,
    ...silences(looked, faultAtMs, lookedUntilMs(story)).map((gap) =>
      because('OBSERVER_SILENT', `nothing observed the machine ${gap}`, { source: 'machine' }),
    ),
  ];
}

/** When what this source tells was not watched, by any one of those who were to. */
export function gapsOf(story: Story, source: string): Reason[] {
  const { faultAtMs } = story;
  if (faultAtMs === undefined) return [];
  const lives = livesOf(story.observations, source);
  if (lives.length === 0) {
    return [because('OBSERVER_SILENT', `no observer of ${source} ever began`, { source })];
  }
  return lives.flatMap(({ node, seen }) => {
    const who = `the observer of ${source}${node === undefined ? '' : ` on ${node}`}`;
    const about = { source, ...(node !== undefined && { node }) };
    return lifeGaps(story, seen).map((gap) => because('OBSERVER_SILENT', `${who} ${gap}`, about));
  });
}

function neededSources({ scenario, run, records }: Story): string[] {
  const { fault, also, disk } = scenario;
  // Where the API server answers nobody, nobody is told anything.
  const api = fault.kind === 'api-outage' || also.kind === 'api-outage' ? [] : ['api'];
  if (isGroupRun(records)) return api;
  const disks = ['csi', 'mounts', ...(isDirectory(disk.mode) ? [] : ['devices'])];
  if (run.schemaVersion < 3) return [...api, ...disks];
  // The model has no audit log. The servers' log is asked for where it is used (words.ts).
  return [...api, ...disks, 'controller-manager', ...(isPredicted(run) ? [] : ['audit'])];
}

/** By what its backend declared, never by its name: whoever is real has to show it all. */
export const isPredicted = ({ basis }: RunRecord): boolean => basis === 'predicted';

interface Life {
  /** Where it sees on this node only. */
  readonly node: string | undefined;
  /** Its beginnings, beats and ends. */
  readonly seen: readonly ObservationRecord[];
}

/** One for each observer that was to see this. */
function livesOf(observations: readonly ObservationRecord[], source: string): Life[] {
  const seen = observations.filter(
    ({ name, data }) => lifeSigns.has(name) && data.sees?.includes(source) === true,
  );
  const keyOf = ({ node, data }: ObservationRecord): string => `${String(data.observer)}@${node}`;
  const byKey = Map.groupBy(seen, keyOf);
  return [...byKey.values()].map((all) => ({ node: all[0]?.node, seen: all }));
}

const lifeSigns = new Set<string>([
  observed.observerBegan,
  observed.observerBeat,
  observed.observerEnded,
]);

function lifeGaps(story: Story, seen: Life['seen']): string[] {
  const { faultAtMs = 0 } = story;
  const toMs = lookedUntilMs(story);
  const ends = seen.filter(({ name }) => name === observed.observerEnded);
  const early = ends.filter((end) => end.t < toMs && !wentWithItsNode(end, story));
  const signs = seen.filter(({ name }) => name !== observed.observerEnded).map(({ t }) => t);
  return [
    ...silences([...signs, ...excused(seen, story)], faultAtMs, toMs).map(
      (gap) => `was silent ${gap}`,
    ),
    ...early.map(({ t }) => `ended at ${toldInSeconds(t)}, before the second image`),
    ...(ends.length === 0 ? ['never ended in good order'] : []),
  ];
}

/** What was to be seen is gone as well: only the victim's node may go. */
const wentWithItsNode = ({ node, data }: ObservationRecord, { victimNode }: Story): boolean =>
  typeof data.reason === 'string' && node !== undefined && node === victimNode;

/** Times that stand for signs of life while the node is away, until somebody begins there anew. */
const excused = (seen: Life['seen'], story: Story): number[] =>
  seen.flatMap((end, index) => {
    if (end.name !== observed.observerEnded || !wentWithItsNode(end, story)) return [];
    const untilMs = seen[index + 1]?.t ?? lookedUntilMs(story);
    const steps = Math.ceil(Math.max(0, untilMs - end.t) / beatWithinMs);
    return Array.from({ length: steps }, (_, step) => end.t + step * beatWithinMs);
  });

/** Within the span, from one sign of life to the next. */
function silences(times: readonly number[], fromMs: number, toMs: number): string[] {
  const signs = times.filter((t) => t > fromMs && t < toMs).toSorted((a, b) => a - b);
  return silencesIn([fromMs, ...signs, toMs], beatWithinMs);
}

// Did the machine keep time, and how busy was it? A run that starved for processor time says nothing of
// times.

const machineLate = 'MACHINE_LATE';

/** Its machine kept no time, so that a run's times are no measurement. */
export const isStarved = (reasons: readonly Reason[]): boolean =>
  reasons.some(({ code }) => code === machineLate);

/** A timer that fires later than this says the machine did not keep time. */
const timerLagLimitMs = 2000;

type TimedStory = Pick<Story, 'records' | 'faultAtMs' | 'secondImageAtMs'>;

/** From the fault to the second image: nothing before or after depends on the time it takes. */
export function machineRecordsOf(span: TimedStory): MachineRecord[] {
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
