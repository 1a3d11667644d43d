/** The model's own runs of a scenario, as whole runs through the very runner that a real one has. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { simBackend } from '../../lib/sim/index.ts';
import { runScenario } from '../../lib/run/index.ts';
import type { Scenario } from '../../lib/scenario/index.ts';
import { type Verdict, tellStory, exposureOf } from '../../lib/judge/index.ts';
import { openHistory } from '../../lib/history/index.ts';
import { milestoneTimes, type MilestoneTimes } from './milestone-times.ts';
import { moduleBeside, WorkerPool } from '../../lib/core/index.ts';
import { mysql } from '../../lib/mysql/index.ts';

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
