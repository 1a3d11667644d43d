/** One trial of a batch, run for real or on the model, and what the batch keeps of it. */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { EvidenceError } from '../../errors.ts';
import type { BatchTrial } from '../../matrix/batch-plan.ts';
import type { RunOutcome } from '../../matrix/results.ts';
import type { TrialRun, EventPlace } from '../../matrix/run-batch.ts';
import type { Slot } from '../../matrix/schedule.ts';
import type { Pool, PooledClusters } from '../../cluster/kind/pooled-clusters.ts';
import type { Beside } from '../../cluster/kind/shared-cluster.ts';
import { barriersFor } from '../../cluster/barrier.ts';
import type { WorkerPool } from '../../worker-pool.ts';
import type { BackendChoice } from '../../library/backend-choice.ts';
import { openBackend } from '../../library/backend.ts';
import { kindWorkers } from '../../cluster/kind/ownership/labels.ts';
import type { MatrixFlags } from '../flags/matrix-flags.ts';
import { modelRunId } from '../../library/run-folder.ts';
import { moduleBeside } from '../../module-beside.ts';
import type { Conclusion, TrialOutputRequest } from './trial-outputs.ts';

export interface EventSetting {
  readonly choice: BackendChoice;
  readonly flags: MatrixFlags;
  readonly slots: readonly Slot[];
  /** Undefined on the model, where one trial at a time has one victim. */
  readonly clusters: PooledClusters | undefined;
  readonly replay: (trial: BatchTrial) => string;
  /** Threads of trial-outputs.ts. */
  readonly conclude: WorkerPool<TrialOutputRequest, Conclusion>;
  readonly onProgress: (line: string) => void;
}

/** What a worker thread runs to conclude a trial. */
export const trialOutputs = moduleBeside('trial-outputs', import.meta);

/** One promise a trial; all of them share the fault where there are several. */
export function runEvent(
  runs: readonly TrialRun[],
  place: EventPlace,
  setting: EventSetting,
): readonly Promise<RunOutcome>[] {
  const { clusters } = setting;
  const isAlone = runs.length === 1 && place.room !== 'slot';
  if (clusters === undefined || isAlone) return runs.map((run) => runTrial(run, place, setting));
  const pool = poolOf(place, setting);
  const barriers = barriersFor(runs.length);
  const opening = import('../../cluster/kind/shared-cluster.ts').then(
    ({ SharedCluster }) => new SharedCluster(barriers, clusters, pool),
  );
  return barriers.map(async (event, index) => {
    const shared = await opening;
    const run = runs[index];
    if (run === undefined) throw new RangeError('one barrier a run');
    try {
      return await runTrial(run, place, setting, { event, shared });
    } finally {
      await shared.leave(event);
    }
  });
}

/** One for each pool of the slot's cluster. */
const slotsBeside = ({ cluster }: Slot, slots: readonly Slot[]): readonly Slot[] =>
  slots.filter((each) => each.cluster === cluster);

/** An event that has a cluster to itself has all of its nodes. */
function poolOf({ slot, room }: EventPlace, { slots }: EventSetting): Pool {
  const pools = slotsBeside(slot, slots);
  return room === 'slot'
    ? { number: pools.indexOf(slot) + 1, of: pools.length }
    : { number: 1, of: 1 };
}

/** Workers of the whole cluster, whose pools share them; undefined where the backend is to say it. */
const workersOf = ({ workers }: MatrixFlags, pools: readonly Slot[]): number | undefined =>
  workers === undefined && pools.length === 1 ? undefined : (workers ?? kindWorkers) * pools.length;

/** Throws where nothing could be set up; later trouble is in the outcome. */
async function runTrial(
  { trial, folder }: TrialRun,
  { slot, signal }: EventPlace,
  { choice, flags, slots, replay, conclude, onProgress }: EventSetting,
  beside?: Beside,
): Promise<RunOutcome> {
  const { recordScenario } = await import('../../experiment/run/run.ts');
  mkdirSync(folder, { recursive: true });
  const say = (line: string): void => {
    if (choice.backend === 'kind') onProgress(`${slot.name} ${trial.id}: ${line}`);
  };
  await recordScenario({
    scenario: trial.scenario,
    seed: trial.seed,
    runId: choice.backend === 'sim' ? modelRunId(trial.seed) : randomBytes(4).toString('hex'),
    folder,
    // Kept for the next trial; the batch removes it at its end.
    backend: await openBackend(
      choice,
      {
        clusterName: slot.cluster,
        workers: workersOf(flags, slotsBeside(slot, slots)),
        keep: true,
      },
      beside?.shared,
    ),
    replay: replay(trial),
    onProgress: say,
    onPhase: (phase) => say(`— ${phase}`),
    signal,
    ...(beside && { event: beside.event }),
  });
  const conclusion = await conclude.run({ folder, reports: flags.reports });
  if ('outcome' in conclusion) return conclusion.outcome;
  throw new EvidenceError('NO_VERDICT', `${folder} came to no verdict: ${conclusion.error}`);
}
