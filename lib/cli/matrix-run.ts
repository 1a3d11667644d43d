/** One trial of a batch, run for real or on the model, and what the batch keeps of it. */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { isStarved } from '../experiment/completeness.ts';
import type { Verdict } from '../experiment/verdict.ts';
import type { History } from '../history/reader.ts';
import type { Trial } from '../matrix/plan.ts';
import type { Outcome } from '../matrix/results.ts';
import type { TrialRun } from '../matrix/run-batch.ts';
import type { Beside } from '../cluster/kind/shared-cluster.ts';
import { rendezvous } from '../cluster/rendezvous.ts';
import { openBackend, type BackendChoice } from './backend.ts';
import type { MatrixFlags } from './matrix-flags.ts';

export interface EventPlace {
  readonly slot: string;
  readonly signal: AbortSignal;
}

export interface EventSetting {
  readonly choice: BackendChoice;
  readonly flags: MatrixFlags;
  readonly replay: (trial: Trial) => string;
  readonly onProgress: (line: string) => void;
}

/** One promise a trial; all of them share the fault where there are several. */
export function runEvent(
  runs: readonly TrialRun[],
  place: EventPlace,
  setting: EventSetting,
): readonly Promise<Outcome>[] {
  const [only, ...others] = runs;
  if (only !== undefined && others.length === 0) return [runTrial(only, place, setting)];
  const parties = rendezvous(runs.length);
  const opening = import('../cluster/kind/shared-cluster.ts').then(
    ({ SharedCluster }) => new SharedCluster(parties),
  );
  return parties.map(async (party, index) => {
    const shared = await opening;
    const run = runs[index];
    if (run === undefined) throw new RangeError('one party a run');
    try {
      return await runTrial(run, place, setting, { party, number: index + 1, shared });
    } finally {
      await shared.leave(party);
    }
  });
}

/** Throws where nothing could be set up; later trouble is in the outcome. */
async function runTrial(
  { trial, folder }: TrialRun,
  { slot, signal }: EventPlace,
  { choice, flags, replay, onProgress }: EventSetting,
  beside?: Beside,
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
    backend: await openBackend(
      choice,
      { clusterName: slot, kubernetesVersion, workers, keep: true },
      beside,
    ),
    replay: replay(trial),
    onProgress: say,
    onPhase: (phase) => say(`— ${phase}`),
    signal,
    ...(beside === undefined ? {} : { meet: (gate) => beside.party.pass(gate) }),
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
  const { writeLostCommits } = await import('../report/lost-file.ts');
  if (withPage) await writeOutputs(folder, verdict, history);
  else await writeFacts(folder, verdict);
  writeLostCommits(folder, verdict, history);
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
    starved: isStarved(incompleteBecause),
    worstTimerLagMs: Math.max(0, ...lags),
    timerDistortion: distortionOf(lags),
  };
}

/** The canary's timer is set for a second each time, once it has fired. */
function distortionOf(lagsMs: readonly number[]): number {
  const lateMs = lagsMs.reduce((sum, lag) => sum + lag, 0);
  return lagsMs.length === 0 ? 0 : Number((lateMs / (lagsMs.length * 1000 + lateMs)).toFixed(5));
}
