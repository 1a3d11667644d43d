/** What a run came to in numbers, beside its phases. */
import type { Verdict } from '../experiment/verdict/verdict.ts';
import type { WriteLog } from '../history/writes.ts';
import { exposureOf } from '../timeline/exposure.ts';
import type { Story } from '../timeline/story.ts';

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
  /** Of the acknowledged commits, percent; null where there was none, and as above. */
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
export const figureNames = [
  'secondMountS',
  'exposureS',
  'downtimeS',
  'lost',
  'lostPercent',
] as const satisfies readonly (keyof Figures)[];
