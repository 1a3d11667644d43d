/** A real run as it is compared: its word, its milestones, and how its machine kept time. */
import { basename } from 'node:path';
import type { PredictedRun } from './predict.ts';
import { assembleVerdict, isStarved, tellStory, exposureOf } from '../../lib/judge/index.ts';
import type { Scenario } from '../../lib/scenario/index.ts';
import { openHistory } from '../../lib/history/index.ts';
import { milestoneTimes } from './milestone-times.ts';
import { loadOf, type Load } from './load.ts';
import { mysql } from '../../lib/mysql/index.ts';

export interface RealRun extends PredictedRun {
  /** The run's folder, its last part. */
  readonly run: string;
  readonly scenario: Scenario;
  /** Where it is inconclusive: why. */
  readonly incompleteBecause: readonly string[];
  /** Its machine did not keep time: what it says of times is no measurement, and only its verdict is compared. */
  readonly starved: boolean;
  readonly load: Load;
}

/** Throws EvidenceError without a history. */
export function readRealRun(folder: string): RealRun {
  const history = openHistory(folder);
  const story = tellStory([...history.smallRecords()], mysql);
  const verdict = assembleVerdict(history, { database: mysql });
  const writes = history.writes();
  return {
    run: basename(folder),
    scenario: story.scenario,
    verdict: verdict.verdict,
    incompleteBecause: verdict.incompleteBecause,
    milestones: milestoneTimes(story),
    accessAtMs: exposureOf(story, writes === undefined ? {} : { writes }).handoverAtMs,
    starved: isStarved(verdict.reasons),
    load: loadOf(story),
  };
}
