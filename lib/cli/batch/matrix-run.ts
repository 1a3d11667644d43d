/** Trials of a batch under one fault, run for real or on the model, and what the batch keeps of each. */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { EvidenceError, type WorkerPool, moduleBeside } from '../../core/index.ts';
import type { BatchTrial, RunOutcome, TrialRun, EventPlace, Slot } from '../../batch/index.ts';
import type { Pool, PooledClusters } from '../../kind/index.ts';
import { type Backend, type VolumeRunOptions, kindWorkers } from '../../run/index.ts';
import type { BackendChoice } from '../library/backend-choice.ts';
import { openBackend } from '../library/backend.ts';
import type { MatrixFlags } from '../flags/matrix-flags.ts';
import { mysql } from '../../mysql/index.ts';
import { modelRunId } from '../library/run-folder.ts';
import type { Conclusion, TrialOutputRequest } from './trial-outputs.ts';

export interface EventSetting {
  readonly choice: BackendChoice;
  readonly flags: MatrixFlags;
  readonly slots: readonly Slot[];
  /** Undefined where none are made: one event at a time has its own then. */
  readonly clusters: PooledClusters | undefined;
  readonly replay: (trial: BatchTrial) => string;
  /** Threads of trial-outputs.ts. */
  readonly conclude: WorkerPool<TrialOutputRequest, Conclusion>;
  readonly onProgress: (line: string) => void;
}

/** What a worker thread runs to conclude a trial. */
export const trialOutputs = moduleBeside('trial-outputs', import.meta);

/** One promise a trial, which rejects where nothing could be set up; later trouble is in the outcome. */
export function runEvent(
  runs: readonly TrialRun[],
  place: EventPlace,
  setting: EventSetting,
): readonly Promise<RunOutcome>[] {
  const recorded = recordEvent(runs, place, setting);
  return runs.map(async ({ folder }, index) => {
    const ended = (await recorded)[index];
    if (ended?.status === 'rejected') throw ended.reason;
    const conclusion = await setting.conclude.run({ folder, reports: setting.flags.reports });
    if ('outcome' in conclusion) return conclusion.outcome;
    throw new EvidenceError('NO_VERDICT', `no verdict in ${folder}: ${conclusion.error}`);
  });
}

/** One run with a volume for each trial. */
async function recordEvent(
  runs: readonly TrialRun[],
  place: EventPlace,
  setting: EventSetting,
): Promise<readonly PromiseSettledResult<void>[]> {
  const { oneServer } = await import('../../run/index.ts');
  const { recordVolumes } = await import('../../run/index.ts');
  const backend = await backendOf(runs.length === 1 && place.room !== 'slot', place, setting);
  const volumes = runs.map((run) => volumeOf(run, place, setting));
  return recordVolumes({ backend, database: mysql, signal: place.signal }, volumes, oneServer);
}

/** `isAlone`: nobody else is on its cluster. */
async function backendOf(
  isAlone: boolean,
  place: EventPlace,
  setting: EventSetting,
): Promise<Backend> {
  const { slot } = place;
  const { choice, clusters, flags, slots } = setting;
  const workers = workersOf(flags, slotsBeside(slot, slots));
  // Kept for the next event; the batch removes it at its end.
  const size = { clusterName: slot.cluster, workers, keep: true };
  if (clusters === undefined || isAlone) return openBackend(choice, size);
  return openBackend(choice, size, { clusters, pool: poolOf(place, setting) });
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

function volumeOf(
  { trial, folder }: TrialRun,
  { slot }: EventPlace,
  { choice, replay, onProgress }: EventSetting,
): VolumeRunOptions {
  mkdirSync(folder, { recursive: true });
  const say = (line: string): void => {
    if (!choice.isModel) onProgress(`${slot.name} ${trial.id}: ${line}`);
  };
  return {
    scenario: trial.scenario,
    seed: trial.seed,
    runId: choice.isModel ? modelRunId(trial.seed) : randomBytes(4).toString('hex'),
    folder,
    replay: replay(trial),
    onProgress: say,
    onPhase: (phase) => say(`— ${phase}`),
  };
}
