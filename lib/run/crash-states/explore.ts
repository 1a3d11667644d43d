/** Crash states of a run: each is recovered and judged, and all together are a few numbers and words. */
import { z } from 'zod';
import { EvidenceError, UsageError } from '../../core/index.ts';
import {
  type RunRecord,
  openHistory,
  gapsInWrites,
  type WriteLog,
  type ImageEvidence,
  type LedgerRow,
} from '../../history/index.ts';
import {
  Journal,
  readVerdict,
  type AuditedImage,
  completenessName,
  incomplete,
  allCheckers,
  runChecks,
  unreadBecause,
  Reconciler,
  type Finding,
  verdictWord,
  type VerdictWord,
  worst,
} from '../../judge/index.ts';
import { type PlannedState, draws, type CrashStatePlan } from './plan-states.ts';
import type { Database } from '../ports/database.ts';
import { powerLosses, type PowerLoss, type Scenario } from '../../scenario/index.ts';

interface RunFacts {
  readonly run: RunRecord;
  readonly journal: Journal;
  /** Acknowledged operations, and when the first one was, ms on the run's clock. */
  readonly acked: number;
  readonly firstAckMs: number;
}

/** Throws EvidenceError where the run has no history, or nothing was acknowledged in it. */
export function readRunFacts(folder: string): RunFacts {
  const history = openHistory(folder);
  const run = runRecord(folder, history.smallRecords());
  const journal = new Journal();
  let acked = 0;
  let firstAckMs = Number.POSITIVE_INFINITY;
  for (const operation of history.ops()) {
    journal.add(operation);
    if (operation.outcome !== 'ok' || operation.endedAtMs === undefined) continue;
    acked += 1;
    firstAckMs = Math.min(firstAckMs, operation.endedAtMs);
  }
  if (acked === 0) {
    throw new EvidenceError('NOTHING_ACKED', `no commit was acknowledged in ${folder}`, {
      hint: 'there is nothing to lose; run it with --rate above 0',
    });
  }
  return { run, journal, acked, firstAckMs };
}

export function runRecord(folder: string, records: Iterable<{ readonly type: string }>): RunRecord {
  for (const record of records) if (record.type === 'run') return record as RunRecord;
  throw new EvidenceError('HISTORY_DAMAGED', `the history in ${folder} has no record of its run`);
}

export interface KeptWrites {
  readonly log: WriteLog;
  readonly dataPath: string;
}

/**
 * Throws UsageError where the run did not keep its writes with their data, EvidenceError where the
 * array lost some.
 */
export function keptWrites(folder: string): KeptWrites {
  const log = openHistory(folder).writes();
  const [gap] = log === undefined ? [] : gapsInWrites(log);
  if (gap !== undefined) throw new EvidenceError('WRITES_GAP', gap);
  if (log?.dataPath !== undefined) return { log, dataPath: log.dataPath };
  throw new UsageError('WRITES_NOT_KEPT', `the run in ${folder} has no data of its writes`, {
    hint: 'run it again with --keep-writes',
  });
}

const exposureSchema = z.object({ exposure: z.object({ ms: z.number() }) });

/**
 * Throws UsageError where two nodes could write the volume at one time, by the run's verdict: its
 * states would be damaged by that, and a loss of power would get the blame.
 */
export function neededOneWriter(folder: string): void {
  const ms = readVerdict(folder, exposureSchema)?.exposure.ms ?? 0;
  if (ms === 0) return;
  const what = `two nodes could write the volume of ${folder} for ${ms} ms`;
  throw new UsageError('TWO_WRITERS', what, {
    hint: 'its crash states would show that damage; use a run without exposure',
  });
}

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

interface RecoverOptions {
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
  readonly durationsMs: Readonly<Record<string, number>>;
}

interface ExploreOptions {
  readonly database: Database;
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

interface PolicySummary {
  readonly policy: PowerLoss;
  readonly verdict: VerdictWord;
  readonly states: number;
  /** Those at whose moment something was not flushed: with nothing unflushed all policies agree. */
  readonly withUnflushed: number;
  /** States that lost acknowledged commits and are sound otherwise. */
  readonly lost: number;
  readonly corrupt: number;
  /** Those of the corrupt ones on which the server could not start. */
  readonly notStarted: number;
  /** States that could not be read, though nothing in them was proven damaged. */
  readonly inconclusive: number;
  /**
   * With no damaged state among n: the share of damaged ones among all moments as they were drawn
   * is below this, with 95 % confidence. Absent with damage, or with a gap, or without states.
   */
  readonly shareBelow?: number;
}

interface Summary {
  /** Verdict of the worst state; inconclusive where a state could not be read and none is damaged. */
  readonly verdict: VerdictWord;
  readonly policies: readonly PolicySummary[];
  /** The most severe state, and of those the one that lost most; undefined where all are safe. */
  readonly worst?: StateResult;
}

export function summarizeStates(results: readonly StateResult[]): Summary {
  const verdict = verdictOf(results);
  const isDamage = verdict === 'lost' || verdict === 'corrupt';
  const [worstState] = results
    .filter((each) => isDamage && each.verdict === verdict)
    .toSorted((a, b) => b.lost - a.lost || a.number - b.number);
  return {
    verdict,
    policies: powerLosses
      .map((policy) => ofPolicy(policy, results))
      .filter(({ states }) => states > 0),
    ...(worstState === undefined ? {} : { worst: worstState }),
  };
}

/** Damage stands; without any, one state that could not be read leaves it open. */
function verdictOf(results: readonly StateResult[]): VerdictWord {
  const proven = results.map(({ verdict }) => verdict).filter((word) => word !== 'inconclusive');
  const safety = worst(proven);
  const isOpen = proven.length < results.length || results.length === 0;
  return safety === 'safe' && isOpen ? 'inconclusive' : safety;
}

function ofPolicy(policy: PowerLoss, all: readonly StateResult[]): PolicySummary {
  const results = all.filter((result) => result.policy === policy);
  const count = (test: (result: StateResult) => boolean): number => results.filter(test).length;
  const verdict = verdictOf(results);
  const ended = (word: VerdictWord): number => count((each) => each.verdict === word);
  return {
    ...{ policy, verdict, states: results.length },
    withUnflushed: count(({ unflushed }) => unflushed > 0),
    lost: ended('lost'),
    corrupt: ended('corrupt'),
    notStarted: count((each) => each.verdict === 'corrupt' && !each.serverStarted),
    inconclusive: ended('inconclusive'),
    ...(verdict === 'safe' ? { shareBelow: boundOfNone(results.length) } : {}),
  };
}

/** Exact (Clopper–Pearson) upper bound for none of n, one-sided 95 %: about 3 / n. */
export const boundOfNone = (n: number): number => 1 - 0.05 ** (1 / n);

/** Lines of what a finding rests on: a person needs the server's own words, and not only how much. */
const evidenceLines = 2;
const evidenceLength = 200;

export function describeState(result: StateResult): string {
  const { number, atMs, policy, verdict, acked, lost, unflushed, survived, findings } = result;
  const kept = `${survived} of ${unflushed} unflushed writes kept`;
  const head =
    `state ${number} (${policy} at ${seconds(atMs)}, ${kept}): ${verdict}, ` +
    `${lost} of ${acked} commits lost`;
  const why = findings.filter(({ level }) => level !== 'note');
  const lines = why.flatMap(({ code, summary, evidence }) => [
    `    ${code}: ${summary}`,
    ...evidence.slice(0, evidenceLines).map((line) => `      ${line.slice(0, evidenceLength)}`),
  ]);
  return [head, ...lines].join('\n');
}

interface Described extends Summary {
  readonly moments: CrashStatePlan['moments'];
  readonly durationS: number;
  readonly expected: readonly VerdictWord[];
  readonly asExpected: boolean;
  readonly rebuildWorst?: string;
  readonly states: readonly StateResult[];
}

export function describeSummary(described: Described): string {
  const { states, moments, durationS, policies, worst, rebuildWorst } = described;
  const thorough = states.filter((each) => each.thorough).length;
  const lines = [
    `${states.length} crash states in ${durationS} s, ${thorough} of them with CHECK TABLE and fsck`,
    ...draws.map((drawn) => {
      const count = states.filter((state) => state.drawn === drawn).length;
      return `${count} of the ${moments[drawn]} moments ${drawnFrom[drawn]}`;
    }),
    '',
    row(columns),
    ...policies.map(policyRow),
    '',
  ];
  if (worst !== undefined) lines.push(`worst: ${describeState(worst)}`);
  if (rebuildWorst !== undefined) lines.push(`rebuild it: ${rebuildWorst}`, '');
  return [...lines, verdictSentence(described)].join('\n');
}

function verdictSentence({ verdict, asExpected, expected, states }: Described): string {
  const damaged = states.filter((each) => each.verdict === 'lost' || each.verdict === 'corrupt');
  const expectation = asExpected ? 'as expected' : `expected ${expected.join(' or ')}`;
  const what =
    verdict === 'inconclusive'
      ? 'not every state could be read'
      : `${damaged.length} of ${states.length} crash states lost what was acknowledged`;
  return `${verdict.toUpperCase()} (${expectation}) — ${what}`;
}

function policyRow(summary: PolicySummary): string {
  const { policy, states, withUnflushed, lost, corrupt, notStarted } = summary;
  const { inconclusive, shareBelow } = summary;
  const bound = shareBelow === undefined ? '–' : `${(shareBelow * 100).toFixed(1)} %`;
  return row([policy, states, withUnflushed, lost, corrupt, notStarted, inconclusive, bound]);
}

const drawnFrom = {
  anywhere: 'since the first acknowledged commit',
  'at-flush': 'right before or after a flush',
  'much-unflushed': 'with at least 8 writes unflushed',
} as const;

const columns = [
  ...['policy', 'states', 'unflushed', 'lost', 'corrupt'],
  ...['not started', 'unreadable', 'at most'],
];

const row = (cells: readonly (string | number)[]): string =>
  cells
    .map((cell, index) => (index === 0 ? `${cell}`.padEnd(10) : `${cell}`.padStart(12)))
    .join('');

const seconds = (ms: number): string => `${(ms / 1000).toFixed(3)} s`;

type Promises = Pick<Scenario, 'database' | 'disk'>;

/** Verdicts of all states together that are no surprise. */
export function expectedAfterPowerLoss(
  { durability }: Database,
  { disk, database }: Promises,
  policies: readonly PowerLoss[],
): VerdictWord[] {
  if (disk.flushes === 'ignored') return ['lost', 'corrupt'];
  const promised: VerdictWord = durability.keepsAll(database) ? 'safe' : 'lost';
  // A page may be torn while its copy is lost with the cache: docs/explanation/crash-states.md.
  return policies.includes('tears') ? [promised, 'corrupt'] : [promised];
}

/** Also each policy by itself shows nothing but what it may; by luck it may show no damage. */
export function isExpected(
  database: Database,
  promises: Promises,
  { verdict, policies }: Summary,
): boolean {
  const expected = (of: readonly PowerLoss[], word: VerdictWord): boolean =>
    expectedAfterPowerLoss(database, promises, of).includes(word);
  return (
    expected(
      policies.map(({ policy }) => policy),
      verdict,
    ) && policies.every((each) => each.verdict === 'safe' || expected([each.policy], each.verdict))
  );
}
