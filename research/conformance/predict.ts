/** The model's own runs of a scenario, as whole runs through the very runner that a real one has. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { simBackend } from '../../lib/sim/backend.ts';
import { runScenario } from '../../lib/run/run.ts';
import type { Scenario } from '../../lib/scenario/scenario.ts';
import type { Verdict } from '../../lib/judge/verdict/verdict.ts';
import { openHistory } from '../../lib/history/reader.ts';
import { milestoneTimes, type MilestoneTimes } from './milestone-times.ts';
import { tellStory } from '../../lib/judge/timeline/story.ts';
import { exposureOf } from '../../lib/judge/timeline/exposure.ts';
import { moduleBeside } from '../../lib/core/module-beside.ts';
import { WorkerPool } from '../../lib/core/worker-pool.ts';
import { mysql } from '../../lib/mysql/database.ts';

export interface PredictedRun {
  readonly milestones: MilestoneTimes;
  /** Its safety, or `inconclusive`. */
  readonly verdict: Verdict['verdict'];
  /** When the successor first wrote, on the run's clock, ms; fsck writes too. */
  readonly accessAtMs: number | undefined;
}

export interface ModelRun {
  readonly scenario: Scenario;
  readonly seed: string;
}

export async function predictRun({ scenario, seed }: ModelRun): Promise<PredictedRun> {
  const folder = mkdtempSync(join(tmpdir(), 'forcedetach-conformance-'));
  try {
    const verdict = await runScenario({
      ...{ database: mysql, scenario, seed, runId: 'conformance', folder, backend: simBackend() },
      replay: 'none',
      onProgress: () => undefined,
      onPhase: () => undefined,
      signal: new AbortController().signal,
    });
    const story = tellStory([...openHistory(folder).smallRecords()], mysql);
    return {
      milestones: milestoneTimes(story),
      verdict: verdict.verdict,
      accessAtMs: exposureOf(story, {}).handoverAtMs,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Plays runs of the model on several worker threads. */
type PredictionPool = WorkerPool<ModelRun, PredictedRun>;

export const predictionPool = (threads: number): PredictionPool =>
  new WorkerPool(moduleBeside('worker', import.meta), threads);
