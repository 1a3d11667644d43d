/** Has every planned state rebuilt, recovered and judged. */
import {
  type AuditedImage,
  completenessName,
  incomplete,
  allCheckers,
  runChecks,
  unreadBecause,
  type Journal,
  Reconciler,
  type Finding,
  verdictWord,
  type VerdictWord,
  worst,
} from '../../judge/index.ts';
import type { ImageEvidence, LedgerRow } from '../../history/index.ts';
import type { Database } from '../ports/database.ts';
import type { PlannedState } from './plan-states.ts';

/** A volume as a loss of power left it, recovered. */
export interface Recovered {
  /**
   * File system, server, rows. Absent unless the state was to be looked at thoroughly: the comparison of
   * indexes, CHECK TABLE and fsck.
   */
  readonly evidence: ImageEvidence;
  /** Writes of that moment that no flush had covered, and those of them that are on the image. */
  readonly unflushed: number;
  readonly survived: number;
}

export interface RecoverOptions {
  /** Also compares the indexes, runs CHECK TABLE in a server of its own, and fsck. */
  readonly thorough: boolean;
  /** Rows in primary key order. */
  readonly onRows: (rows: readonly LedgerRow[]) => void;
}

export interface Recovery {
  /** States that can be worked on at a time. */
  readonly workers: number;
  /**
   * States come in the order of their positions, without waiting for each other.
   * Rejects only where the volume can't be rebuilt or the work was aborted.
   */
  recover(state: PlannedState, options: RecoverOptions): Promise<Recovered>;
}

export interface StateResult extends PlannedState, Omit<Recovered, 'evidence'> {
  /** With indexes, CHECK TABLE and fsck. */
  readonly thorough: boolean;
  readonly verdict: VerdictWord;
  /** Commits acknowledged by then, and those of them that are gone or can't be read. */
  readonly acked: number;
  readonly lost: number;
  readonly serverStarted: boolean;
  readonly findings: readonly Finding[];
  /** How long each step took, ms. */
  readonly durationsMs: Readonly<Record<string, number>>;
}

export interface ExploreOptions {
  readonly database: Database;
  /** In order. */
  readonly states: readonly PlannedState[];
  readonly recovery: Recovery;
  /** The run's: what clients had acknowledged, and when. */
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

/** What was acknowledged by then against what is there. */
async function recoverAndJudge(
  state: PlannedState,
  { database, recovery, journal, runSeed, isThorough }: ExploreOptions,
): Promise<StateResult> {
  const thorough = isThorough(state);
  const { atMs: takenAtMs } = state;
  const reconciler = new Reconciler({ journal, seed: runSeed, takenAtMs });
  const { evidence, ...writes } = await recovery.recover(state, {
    thorough,
    onRows: (rows) => {
      for (const row of rows) reconciler.row(row);
    },
  });
  const reconciliation = reconciler.result(unreadBecause(evidence, database.log));
  const image = { image: `state ${state.number}`, evidence, reconciliation, takenAtMs };
  // A crash state need not have all parts of an audit.
  const checkers = allCheckers(database).filter(({ name }) => name !== completenessName);
  const gaps = { name: 'gaps', check: (each: AuditedImage) => gapsIn(each, database) };
  const findings = runChecks([image], [...checkers, gaps]);
  const complete = findings.every(({ level }) => level !== 'incomplete');
  return {
    ...{ ...state, ...writes, thorough },
    verdict: verdictWord(worst(findings.map(({ safety }) => safety)), complete),
    acked: reconciliation.acked,
    lost: reconciliation.lost,
    serverStarted: evidence.starts[0]?.ready === true,
    findings,
    durationsMs: evidence.durationsMs ?? {},
  };
}

/** What could not be read although nothing was damaged. */
function gapsIn({ image, evidence }: AuditedImage, { log }: Database): Finding[] {
  const isGap = unreadBecause(evidence, log) === 'gap';
  const unread = isGap ? ['the ledger was not read to its end'] : [];
  const missing = [...evidence.failures, ...unread];
  if (missing.length === 0) return [];
  return [incomplete('AUDIT_INCOMPLETE', `${image}: ${missing.join('; ')}`, missing)];
}
