/** All that witnesses are read from: a run's small records, its log of writes, what its clients were answered. */
import type { WriteLog } from '../../history/index.ts';
import { type Story, lookedUntilMs } from '../timeline/story.ts';
import type { Served } from './served.ts';
import type { Span } from './engine.ts';
import { type Logged, readLog } from './log.ts';
import type { Witnessed } from './witnessed.ts';

export interface Evidence {
  readonly story: Story;
  /** Absent where the disk kept no log, or it cannot be read. */
  readonly log: Logged | undefined;
  readonly served: readonly Served[];
  /** From the fault until nobody needs to look any more. */
  readonly watched: Span;
}

export const evidenceOf = (
  story: Story,
  writes: WriteLog | undefined,
  served: readonly Served[],
): Evidence => ({
  ...{ story, served },
  log: writes === undefined ? undefined : readLog(writes, story.endAtMs),
  watched: { fromMs: story.faultAtMs ?? story.endAtMs, toMs: lookedUntilMs(story) },
});

/** What a witness states of a fact. Undefined where this run has no such witness of it. */
export type Read = Witnessed<Evidence>['read'];
