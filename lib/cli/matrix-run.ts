/** One trial of a batch, run for real or on the model, and what the batch keeps of it. */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { starvedReason } from '../experiment/completeness.ts';
import type { Verdict } from '../experiment/verdict.ts';
import type { History } from '../history/reader.ts';
import type { Trial } from '../matrix/plan.ts';
import type { Outcome } from '../matrix/results.ts';
import { openBackend, type BackendChoice } from './backend.ts';
import type { MatrixFlags } from './matrix-flags.ts';

export interface TrialPlace {
  readonly slot: string;
  readonly folder: string;
  readonly signal: AbortSignal;
}

export interface TrialSetting {
  readonly choice: BackendChoice;
  readonly flags: MatrixFlags;
  readonly replay: (trial: Trial) => string;
  readonly onProgress: (line: string) => void;
}

/** Throws where nothing could be set up; later trouble is in the outcome. */
export async function runTrial(
  trial: Trial,
  { slot, folder, signal }: TrialPlace,
  { choice, flags, replay, onProgress }: TrialSetting,
): Promise<Outcome> {
  const { runScenario } = await import('../experiment/run.ts');
  const { openHistory } = await import('../history/reader.ts');
  const { kubernetesVersion, workers } = flags;
  mkdirSync(folder, { recursive: true });
  const say = (line: string): void => {
    if (choice.backend === 'kind') onProgress(`${slot} ${trial.id}: ${line}`);
  };
  const verdict = await runScenario({
    scenario: trial.scenario,
    seed: trial.seed,
    runId: randomBytes(4).toString('hex'),
    folder,
    // Kept for the next trial; the batch removes it at its end.
    backend: await openBackend(choice, {
      clusterName: slot,
      kubernetesVersion,
      workers,
      keep: true,
    }),
    replay: replay(trial),
    onProgress: say,
    onPhase: (phase) => say(`— ${phase}`),
    signal,
  });
  const history = openHistory(folder);
  await writeRun(folder, verdict, history, flags.reports === 'all' || !verdict.asExpected);
  return outcomeOf(verdict, history);
}

async function writeRun(
  folder: string,
  verdict: Verdict,
  history: History,
  withPage: boolean,
): Promise<void> {
  const { writeOutputs, writeFacts } = await import('../report/write.ts');
  if (withPage) await writeOutputs(folder, verdict, history.records());
  else await writeFacts(folder, verdict);
}

function outcomeOf(verdict: Verdict, history: History): Outcome {
  const lags = [...history.smallRecords()]
    .filter((record) => record.type === 'machine')
    .map(({ timerLagMs }) => timerLagMs);
  const { incompleteBecause, availability, exposure, phases } = verdict;
  return {
    verdict: verdict.verdict,
    safety: verdict.safety,
    asExpected: verdict.asExpected,
    basis: verdict.basis,
    noticed: verdict.noticed,
    acked: verdict.acked,
    lost: verdict.lost,
    downtimeMs: availability.downtimeMs,
    exposureMs: exposure.ms,
    secondMountS: phases.secondMount,
    sentence: verdict.sentence,
    incompleteBecause,
    starved: incompleteBecause.some((reason) => reason.startsWith(starvedReason)),
    worstTimerLagMs: Math.max(0, ...lags),
  };
}
