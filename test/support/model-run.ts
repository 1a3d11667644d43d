/** Whole runs on the model, as an experiment makes them. */
import { combined } from '../../lib/scenario/index.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { Backend } from '../../lib/run/ports/cluster.ts';
import { simBackend } from '../../lib/sim/backend.ts';
import { expectationOf } from '../../lib/judge/expectation/expectations.ts';
import type { RunOptions, VolumeRunOptions } from '../../lib/run/run-context.ts';
import { oneServer, runScenario } from '../../lib/run/run.ts';
import { recordVolumes } from '../../lib/run/sequence.ts';
import { parseScenario, type Scenario, type ScenarioInput } from '../../lib/scenario/scenario.ts';
import type { Verdict } from '../../lib/judge/verdict/verdict.ts';
import { mysql } from '../../lib/mysql/database.ts';

export interface ModelRun {
  readonly verdict: Verdict;
  /** Gone when the test is over. */
  readonly folder: string;
}

/** Timers so short that a run takes little; the silence of 30 s that ends a watch still fits in. */
export const shortTimers = {
  load: { rate: 10 },
  timers: { grace: 20_000, toleration: 5_000, forceDetachAfter: 15_000 },
  watch: {
    warmup: 1_000,
    horizon: 180_000,
    patience: 60_000, // What a disk refused for three minutes is tried again up to five minutes later.
    converge: 600_000,
  },
} as const;

/** A partition, where the fields say nothing else. */
export const modelScenario = (fields: Partial<ScenarioInput>): Scenario =>
  parseScenario(
    combined(
      {
        name: 'model',
        question: 'What?',
        fault: { kind: 'network-partition' },
        expected: ['safe'],
      },
      fields,
    ),
  );

export interface ModelRunOptions
  extends Partial<Pick<RunOptions, 'signal' | 'onPhase' | 'onUnhealed' | 'custom'>> {
  /** Puts something between the run and the model. Default: nothing. */
  readonly on?: (model: Backend) => Backend;
}

/** To be called in a test. */
export async function runOnModel(
  scenario: Scenario,
  seed = '1',
  { on = (model) => model, ...more }: ModelRunOptions = {},
): Promise<ModelRun> {
  const folder = mkdtempSync(join(tmpdir(), 'forcedetach-sim-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const verdict = await runScenario({
    ...{
      database: mysql,
      scenario,
      seed,
      runId: 'run',
      folder,
      backend: on(simBackend()),
      replay: 'none',
    },
    onProgress: () => undefined,
    onPhase: () => undefined,
    signal: new AbortController().signal,
    ...more,
  });
  return { verdict, folder };
}

/** One run with a volume for each scenario. To be called in a test; the folders are gone when it is over. */
export async function runTogether(
  scenarios: readonly Scenario[],
  { on = (model) => model, signal, ...told }: ModelRunOptions = {},
): Promise<readonly { readonly folder: string; readonly ended: PromiseSettledResult<void> }[]> {
  const volumes = scenarios.map((scenario, index): VolumeRunOptions => {
    const folder = mkdtempSync(join(tmpdir(), 'forcedetach-sim-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const about = { scenario, seed: '1', runId: `run-${index}`, folder, replay: 'none' };
    return { ...about, onProgress: () => undefined, onPhase: () => undefined, ...told };
  });
  const backend = on(simBackend());
  const event = { backend, database: mysql, signal: signal ?? new AbortController().signal };
  const ended = await recordVolumes(event, volumes, oneServer);
  return volumes.flatMap(({ folder }, index) => {
    const result = ended[index];
    return result === undefined ? [] : [{ folder, ended: result }];
  });
}

/**
 * As `runOnModel`; the run is complete and its verdict is expected. A database that is whole serves at the end;
 * whether a damaged one does is a race.
 */
export async function runAsExpected(scenario: Scenario): Promise<Verdict> {
  const { verdict } = await runOnModel(scenario);
  const { verdicts, because } = expectationOf(scenario);
  const said = [because, verdict.sentence, ...verdict.incompleteBecause].join('\n');
  expect(verdict.incompleteBecause, said).toEqual([]);
  expect(verdicts, said).toContain(verdict.verdict);
  if (verdict.verdict !== 'corrupt') expect(verdict.availability.recovered, said).toBe(true);
  return verdict;
}
