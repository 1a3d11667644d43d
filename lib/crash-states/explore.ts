/** Has every planned state rebuilt, recovered and judged. */
import type { AuditedImage, Checker } from '../checkers/checker.ts';
import { completenessName } from '../checkers/completeness.ts';
import { incomplete } from '../checkers/findings.ts';
import type { Database } from '../database/port.ts';
import { allCheckers, runChecks } from '../checkers/index.ts';
import { unreadBecause } from '../checkers/readability.ts';
import type { Journal } from '../checkers/journal.ts';
import { Reconciler } from '../checkers/reconcile.ts';
import {
  type Finding,
  verdictWord,
  type VerdictWord,
  worst,
} from '../experiment/verdict/verdict.ts';
import type { PlannedState } from './plan-states.ts';
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
  readonly database: Database;
  /** In order. */
  readonly states: readonly PlannedState[];
  readonly recovery: Recovery;
  /** The run's: who was told what, and when. */
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
  { database, recovery, journal, runSeed, isThorough }: ExploreOptions,
): Promise<StateResult> {
  const thorough = isThorough(state);
  const reconciler = new Reconciler({ journal, seed: runSeed, takenAtMs: state.atMs });
  const { evidence, unflushed, survived } = await recovery.recover(state, {
    thorough,
    onRows: (rows) => {
      for (const row of rows) reconciler.row(row);
    },
  });
  const reconciliation = reconciler.result(unreadBecause(evidence, database.log));
  const { atMs: takenAtMs } = state;
  const image = { image: `state ${state.number}`, evidence, reconciliation, takenAtMs };
  const judgement = judgeState(image, database);
  const { durationsMs = {} } = evidence;
  return { ...state, unflushed, survived, thorough, ...judgement, durationsMs };
}

/** All but those that ask for parts that a crash state is not asked for. */
const checkers = (database: Database): readonly Checker[] => [
  ...allCheckers(database).filter(({ name }) => name !== completenessName),
  { name: 'gaps', check: (image) => gaps(image, database) },
];

export interface StateJudgement {
  readonly verdict: VerdictWord;
  /** Commits acknowledged by then, and those of them that are gone or can't be read. */
  readonly acked: number;
  readonly lost: number;
  readonly serverStarted: boolean;
  readonly findings: readonly Finding[];
}

/** What was acknowledged by then against what was found. */
function judgeState(image: AuditedImage, database: Database): StateJudgement {
  const { evidence, reconciliation } = image;
  const findings = runChecks([image], checkers(database));
  const complete = findings.every(({ level }) => level !== 'incomplete');
  return {
    verdict: verdictWord(worst(findings.map(({ safety }) => safety)), complete),
    acked: reconciliation.acked,
    lost: reconciliation.lost,
    serverStarted: evidence.starts[0]?.ready === true,
    findings,
  };
}

/** What could not be read although nothing was damaged. */
function gaps({ image, evidence }: AuditedImage, { log }: Database): Finding[] {
  const isGap = unreadBecause(evidence, log) === 'gap';
  const unread = isGap ? ['the ledger was not read to its end'] : [];
  const missing = [...evidence.failures, ...unread];
  if (missing.length === 0) return [];
  return [incomplete('AUDIT_INCOMPLETE', `${image}: ${missing.join('; ')}`, missing)];
}
