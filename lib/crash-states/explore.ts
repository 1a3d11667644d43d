/** Has every planned state rebuilt, recovered and judged. */
import { unreadBecause } from '../checkers/machine-trouble.ts';
import type { Journal } from '../checkers/journal.ts';
import { Reconciler } from '../checkers/reconcile.ts';
import { judgeState, type StateJudgement } from './judge.ts';
import type { PlannedState } from './plan.ts';
import type { Recovered, Recovery } from './recovery.ts';

export interface StateResult extends PlannedState, StateJudgement {
  readonly unflushed: Recovered['unflushed'];
  readonly survived: Recovered['survived'];
  /** With indexes, CHECK TABLE and fsck. */
  readonly thorough: boolean;
  /** How long each step took, ms. */
  readonly durationsMs: Readonly<Record<string, number>>;
}

export interface ExploreOptions {
  /** In order. */
  readonly states: readonly PlannedState[];
  readonly recovery: Recovery;
  /** Of the run: who was told what, and when. */
  readonly journal: Journal;
  /** The run's seed: gives what was sent. */
  readonly runSeed: string;
  readonly isThorough: (state: PlannedState) => boolean;
  /** Called as each state is judged, in no order. */
  readonly onState: (result: StateResult) => Promise<void> | void;
}

/** Rejects where a state could not be worked on, once nothing is under way any more. */
export async function explore(options: ExploreOptions): Promise<void> {
  const { states, recovery } = options;
  const left = inOrder(states);
  const workers = Array.from({ length: recovery.workers }, async () => {
    for (const state of left) await options.onState(await recoverAndJudge(state, options));
  });
  const ended = await Promise.allSettled(workers);
  for (const worker of ended) if (worker.status === 'rejected') throw worker.reason;
}

/** Workers take from it in turn; where one of them throws, it ends for all. */
function* inOrder(states: readonly PlannedState[]): Generator<PlannedState> {
  yield* states;
}

async function recoverAndJudge(
  state: PlannedState,
  { recovery, journal, runSeed, isThorough }: ExploreOptions,
): Promise<StateResult> {
  const thorough = isThorough(state);
  const reconciler = new Reconciler({ journal, seed: runSeed, takenAtMs: state.atMs });
  const { evidence, unflushed, survived } = await recovery.recover(state, {
    thorough,
    onRows: (rows) => {
      for (const row of rows) reconciler.row(row);
    },
  });
  const reconciliation = reconciler.result(unreadBecause(evidence));
  const judgement = judgeState(`state ${state.number}`, evidence, reconciliation, state.atMs);
  const { durationsMs = {} } = evidence;
  return { ...state, unflushed, survived, thorough, ...judgement, durationsMs };
}
