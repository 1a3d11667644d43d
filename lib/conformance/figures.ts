/** What a run came to in numbers, beside its phases. */
import type { Verdict } from '../experiment/verdict/verdict.ts';
import type { WriteLog } from '../history/writes.ts';
import { exposureOf } from '../timeline/exposure.ts';
import type { MilestoneTimes } from '../timeline/milestone-times.ts';
import type { Story } from '../timeline/story.ts';
import { durationS, phaseDefinitions, phaseKey } from './phases.ts';
import { intervalOf, toleranceS, type Interval } from './compare.ts';

export interface Figures {
  /** Seconds after the fault; null where none came. */
  readonly secondMountS: number | null;
  /** When the successor first wrote, on the run's clock, ms; fsck writes too. */
  readonly accessAtMs: number | null;
  readonly exposureS: number;
  /** Null where nobody served to the end. */
  readonly downtimeS: number | null;
  /** Acknowledged commits that a copy lacks; null where none can tell. */
  readonly lost: number | null;
  /** Percent of the acknowledged commits; null where there was none, and as above. */
  readonly lostPercent: number | null;
  /** After the heal a client outside got commits. */
  readonly served: boolean;
}

/** `writes`: where the disk kept a log of them. */
export function figuresOf(verdict: Verdict, story: Story, writes?: WriteLog): Figures {
  const { handoverAtMs } = exposureOf(story, writes === undefined ? {} : { writes });
  const { phases, exposure, availability, lost, acked, serving } = verdict;
  return {
    secondMountS: phases.secondMount,
    accessAtMs: handoverAtMs ?? null,
    exposureS: exposure.ms / 1000,
    downtimeS: availability.downtimeMs === null ? null : availability.downtimeMs / 1000,
    lost,
    lostPercent: acked === 0 || lost === null ? null : (100 * lost) / acked,
    served: serving.served,
  };
}

/** Those that have an interval. */
const figureNames = [
  'secondMountS',
  'exposureS',
  'downtimeS',
  'lost',
  'lostPercent',
] as const satisfies readonly (keyof Figures)[];

/** Name → seconds, commits or percent; what did not come is not in it. */
export type Quantities = ReadonlyMap<string, number>;

export function quantitiesOf(times: MilestoneTimes, figures: Figures): Quantities {
  const phases = phaseDefinitions.map(
    (definition) => [phaseKey(definition), durationS(times, definition)] as const,
  );
  const named = figureNames.map((name) => [name, figures[name]] as const);
  return new Map(
    [...phases, ...named].flatMap(([name, value]) =>
      typeof value === 'number' ? [[name, value] as const] : [],
    ),
  );
}

/** What fewer of the runs have says nothing of how long it takes: the others were cut short. */
const seenInMost = 0.9;

/**
 * Nine in ten lie within, and half a second beside the median is always allowed: witnesses tell of a
 * milestone no more exactly. Quantities that fewer than nine in ten of the runs have get none.
 */
export function intervalsOf(runs: readonly Quantities[]): Record<string, Interval> {
  const names = new Set(runs.flatMap((run) => [...run.keys()]));
  const intervals: Record<string, Interval> = {};
  for (const name of names) {
    const values = runs.map((run) => run.get(name)).filter((value) => value !== undefined);
    if (values.length >= runs.length * seenInMost) intervals[name] = statedInterval(values);
  }
  return intervals;
}

/** Interval as a forecast states it. */
export function statedInterval(values: readonly number[]): Interval {
  const { from, median, to } = intervalOf(values);
  const round = (value: number): number => Math.round(value * 1000) / 1000;
  return {
    from: round(Math.min(from, median - toleranceS)),
    median: round(median),
    to: round(Math.max(to, median + toleranceS)),
  };
}
