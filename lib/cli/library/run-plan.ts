/**
 * One run from what is wished to its verdict: what the command line and the library share. A plan is
 * checked and has its backend chosen, and nothing was created for it yet.
 */
import type { Backend, Database, Custom, RunOptions } from '../../run/index.ts';
import type { Scenario } from '../../scenario/index.ts';
import type { BackendChoice } from './backend-choice.ts';
import { refuseUnfit } from './refusals.ts';
import { checkNewFolder, makeFolder, modelRunId } from './run-folder.ts';
import { playAndJudge, type Judged } from './tested.ts';

/** Where runs take place. */
export interface ClusterSource {
  /** Throws InfrastructureError where there is no such thing. Creates nothing. */
  choose(scenario: Scenario): Promise<BackendChoice>;
  open(choice: BackendChoice): Promise<Backend>;
}

export interface RunWish {
  readonly cluster: ClusterSource;
  readonly database: Database;
  readonly scenario: Scenario;
  readonly custom?: Custom;
  readonly seed: string;
  /** Id of a run on a real cluster; on the model a run is its seed. */
  readonly runId: string;
  /** New or empty, or not made yet. */
  readonly folder: string;
  /** Paste-ready; `backend` is the one in fact taken. */
  readonly replay: (backend: string) => string;
}

export interface RunPlan extends RunWish {
  readonly choice: BackendChoice;
}

/** Who is told what while it runs; see RunOptions. */
export type RunHooks = Pick<
  RunOptions,
  'onProgress' | 'onPhase' | 'onStep' | 'onUnhealed' | 'onRecord' | 'signal'
>;

/** `hasFlag` as in `checkNewFolder`. Throws UsageError or InfrastructureError; nothing was created. */
export async function planRun(wish: RunWish, hasFlag = false): Promise<RunPlan> {
  const { cluster, database, scenario, custom, folder } = wish;
  checkNewFolder(folder, hasFlag);
  const choice = await cluster.choose(scenario);
  refuseUnfit(scenario, choice, { ...custom, database });
  return { ...wish, choice };
}

/** `watch` is given the backend's clock, which begins with the run. Throws as `recordRun` does. */
export async function performRun(
  { cluster, database, scenario, custom, seed, choice, folder, ...wish }: RunPlan,
  watch: (clock: Backend['clock']) => RunHooks,
): Promise<Judged> {
  const backend = await cluster.open(choice);
  makeFolder(folder);
  return playAndJudge({
    ...{ database, scenario, seed, folder, backend },
    ...(custom === undefined ? {} : { custom }),
    runId: choice.isModel ? modelRunId(seed) : wish.runId,
    replay: wish.replay(choice.backend),
    ...watch(backend.clock),
  });
}
