/** From the results of a batch to what it found: a pure function, so that a report can be rebuilt. */
import {
  type ExitCode,
  exitCode,
  fisher,
  significance,
  countInWords,
  plural,
} from '../core/index.ts';
import { perHour, weakestBasis, type Batch } from './batch.ts';
import { summarizeCell } from './cell-summary.ts';
import { judgeControl } from './controls.ts';
import { cellsOf } from './cells.ts';
import { unlikeLabels, comparePairs } from './pairs.ts';
import type { BatchPlan, BatchTrial } from './batch-plan.ts';
import type { Attempt, RunOutcome, Results } from './results.ts';
import { gradeOf } from './expectations/severity.ts';

export function summarizeBatch(plan: BatchPlan, { head, attempts }: Results): Batch {
  const lastOf = (trial: BatchTrial): Attempt | undefined =>
    attempts.findLast((attempt) => attempt.trial === trial.id);
  const trialsOf = (kind: BatchTrial['kind']): BatchTrial[] =>
    plan.trials.filter((trial) => trial.kind === kind);
  const cells = plan.cells.map((cell) => {
    const trials = trialsOf('cell').filter(({ subject }) => subject === cell.id);
    return summarizeCell(cell, trials, attempts);
  });
  const controls = plan.controls.map(({ role, label }): Batch['controls'][number] => {
    const trial = trialsOf('control').find(({ subject }) => subject === role);
    const last = trial === undefined ? undefined : lastOf(trial);
    const outcome = last?.outcome;
    const trouble =
      outcome === undefined ? (last?.error ?? 'it did not run') : judgeControl(role, outcome);
    const silentLoss = silentLossOf(outcome);
    const folder = last?.folder ?? '';
    return { role, label, holds: trouble === '', trouble, silentLoss, folder };
  });
  const checks = trialsOf('check').flatMap((trial): Batch['checks'] => {
    const cell = cells.find(({ id }) => id === trial.subject);
    if (cell === undefined) return [];
    const last = lastOf(trial);
    const verdict = last?.outcome?.verdict ?? 'inconclusive';
    const before = cell.runs.map((run) => run.verdict ?? 'inconclusive');
    const agrees = agreement(verdict, before);
    const { id, label } = cell;
    return [{ cell: id, label, verdict, before, agrees, folder: last?.folder ?? '' }];
  });
  const outcomes = attempts.map(({ outcome }) => outcome).filter((each) => each !== undefined);
  const busyS = busyMs(attempts) / 1000;
  const events = conclusiveEvents(trialsOf('cell'), attempts);
  // A shard has a part of them, and the same axes as the others.
  const all = cellsOf(plan.matrix);
  const axes = plan.matrix.axes.map((axis): Batch['axes'][number] => {
    const unlike = unlikeLabels(axis, all);
    const labels = axis.values.map(({ label }) => label);
    return { name: axis.name, labels, ...(unlike.length > 0 && { unlike }) };
  });
  return {
    schemaVersion: 1,
    name: plan.matrix.name,
    question: plan.matrix.question,
    ...conclude({ axes, cells, controls, checks, events }),
    basis: weakestBasis([
      head.isModel ? 'predicted' : 'measured',
      ...outcomes.map(({ basis }) => basis),
    ]),
    cluster: head.backend,
    seed: head.seed,
    startedAt: head.startedAt,
    busyS: Math.round(busyS),
    eventsPerHour: perHour(events, busyS),
    worstTimerLagMs: Math.round(Math.max(0, ...outcomes.map((each) => each.worstTimerLagMs))),
    timerDistortion: Math.max(0, ...outcomes.map((each) => each.timerDistortion)),
  };
}

type Whole = Pick<Batch, 'axes' | 'cells' | 'controls' | 'checks' | 'events'>;
type Concluded = Whole &
  Pick<Batch, 'sentence' | 'inconclusiveBecause' | 'verdict'> &
  ReturnType<typeof comparePairs>;

/** All that follows from the parts of a batch. */
export function conclude(parts: Whole): Concluded {
  const inconclusiveBecause = troubles(parts);
  return {
    ...parts,
    sentence: sentenceOf({ ...parts, inconclusiveBecause }),
    inconclusiveBecause,
    verdict: verdictOf(parts.cells, inconclusiveBecause),
    ...comparePairs(parts),
  };
}

/**
 * Alone, the cell must come to something that it also came to beside others. One that came to a grade
 * often may come to another once, by chance: the two disagree where Fisher's test says so.
 */
function agreement(
  verdict: RunOutcome['verdict'],
  before: readonly RunOutcome['verdict'][],
): boolean | null {
  const alone = gradeOf(verdict);
  const beside = before.map(gradeOf).filter((grade) => grade !== undefined);
  if (alone === undefined || beside.length === 0) return null;
  const same = { count: beside.filter((grade) => grade === alone).length, of: beside.length };
  if (same.count > 0 || beside.length === 1) return same.count > 0;
  return fisher({ count: 1, of: 1 }, same) >= significance;
}

type BatchParts = Pick<Batch, 'cells' | 'controls' | 'checks'>;

function troubles({ cells, controls, checks }: BatchParts): string[] {
  const reasons = controls
    .filter(({ holds }) => !holds)
    .map(({ role, trouble }) => `control ${role}: ${trouble}`);
  for (const { cell, label, verdict, before, agrees } of checks) {
    if (agrees !== false) continue;
    reasons.push(
      `${cell} (${label}) came to ${verdict} alone, and to ${before.join(', ')} beside others`,
    );
  }
  if (checks.length > 0 && checks.every(({ agrees }) => agrees === null)) {
    reasons.push('no rerun could be compared');
  }
  if (cells.every(({ verdict }) => verdict === 'inconclusive')) {
    reasons.push('no cell came to a verdict');
  }
  return reasons;
}

function verdictOf(cells: Batch['cells'], reasons: readonly string[]): Batch['verdict'] {
  if (reasons.length > 0) return 'inconclusive';
  if (cells.some(({ asExpected }) => asExpected === false)) return 'unexpected';
  return cells.some(({ open }) => open === true) ? 'open' : 'expected';
}

/** Exit code as for a run; a cell without a verdict is `inconclusive` here, too. */
export function batchExitCode({ verdict, cells }: Pick<Batch, 'verdict' | 'cells'>): ExitCode {
  const without = cells.filter((cell) => cell.verdict === 'inconclusive');
  const noneCame = cells.length > 0 && without.length === cells.length;
  if (noneCame && without.every(failedEverywhere)) {
    return exitCode.infrastructure;
  }
  if (verdict === 'unexpected') return exitCode.unexpected;
  if (verdict === 'inconclusive' || without.length > 0) return exitCode.inconclusive;
  return verdict === 'open' ? exitCode.open : exitCode.expected;
}

const failedEverywhere = ({ runs }: Batch['cells'][number]): boolean =>
  runs.every(({ verdict }) => verdict === null);

function sentenceOf(parts: BatchParts & Pick<Batch, 'events' | 'inconclusiveBecause'>): string {
  const { cells, controls, checks, events, inconclusiveBecause } = parts;
  const words = (['safe', 'exposed', 'lost', 'corrupt', 'inconclusive'] as const)
    .map((word) => [word, cells.filter(({ verdict }) => verdict === word).length] as const)
    .filter(([, count]) => count > 0)
    .map(([word, count]) => `${count} ${word}`);
  const unexpected = cells.filter(({ asExpected }) => asExpected === false).length;
  const open = cells.filter((cell) => cell.open === true).length;
  const agreeing = checks.filter(({ agrees }) => agrees === true).length;
  const held = controls.filter(({ holds }) => holds).length;
  return [
    `${plural(cells.length, 'cell')} in ${plural(events, 'fault event')} that came to a verdict: ${words.join(', ')}`,
    unexpected === 0 ? 'none unexpected' : `${unexpected} not expected`,
    ...(open === 0 ? [] : [`${open} open: no expectation`]),
    `${held} of ${controls.length} controls hold`,
    ...sensitivity(controls),
    ...(checks.length === 0 ? [] : [`${agreeing} of ${checks.length} reruns alone agree`]),
    ...(inconclusiveBecause.length > 0 ? ['so the batch proves nothing'] : []),
  ].join('; ');
}

function silentLossOf(outcome: RunOutcome | undefined): Batch['controls'][number]['silentLoss'] {
  if (outcome === undefined || outcome.noticed !== 'silent' || !outcome.lost) return null;
  return { lost: outcome.lost, of: outcome.acked };
}

/** How small a silent loss the batch's own controls proved that it sees; empty without one. */
function sensitivity(controls: Batch['controls']): string[] {
  const [smallest] = controls
    .filter(({ holds }) => holds)
    .flatMap(({ silentLoss }) => silentLoss ?? [])
    .toSorted((a, b) => a.lost / a.of - b.lost / b.of);
  return smallest === undefined
    ? []
    : [
        `a silent loss of ${countInWords(smallest.lost)} of ${countInWords(smallest.of)} commits was seen`,
      ];
}

/** Those in which at least one cell came to a verdict. */
function conclusiveEvents(trials: readonly BatchTrial[], attempts: readonly Attempt[]): number {
  const ids = new Set(trials.map(({ id }) => id));
  const concluded = attempts.filter(
    ({ trial, outcome }) =>
      ids.has(trial) && outcome !== undefined && outcome.verdict !== 'inconclusive',
  );
  return new Set(concluded.map(({ event }) => event)).size;
}

/** Length of the union of the attempts' times. */
function busyMs(attempts: readonly Attempt[]): number {
  let busy = 0;
  let until = Number.NEGATIVE_INFINITY;
  const spans = attempts
    .map(({ startedAt, durationMs }) => ({ from: Date.parse(startedAt), durationMs }))
    .toSorted((a, b) => a.from - b.from);
  for (const { from, durationMs } of spans) {
    const to = from + durationMs;
    busy += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  return busy;
}
