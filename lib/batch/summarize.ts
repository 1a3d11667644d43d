/**
 * From the results of a batch to what it found: its cells, what one change did, and whether its controls and
 * reruns hold. Pure functions, so that a report can be rebuilt and shards can be merged.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  type ExitCode,
  countInWords,
  difference,
  exitCode,
  fisher,
  medianOf,
  minorOf,
  plural,
  significance,
  sumOf,
  UsageError,
  wilson,
} from '../core/index.ts';
import {
  type Reason,
  type VerdictWord,
  because,
  judgeExpectation,
  servingExpectationOf,
} from '../judge/index.ts';
import {
  contradictions,
  verdictWords,
  type Scenario,
  fieldNames,
  valueAt,
  type FieldName,
  withValues,
} from '../scenario/index.ts';
import type { Batch, BatchCell, CellDifference, Rate } from './batch.ts';
import { judgeControl, type BatchPlan, type BatchTrial } from './batch-plan.ts';
import { cellsOf, placeInWords, type Cell } from './cells.ts';
import type { Axis } from './matrix.ts';
import { compareGrades, gradeOf, notDone, worstWord } from './measurements.ts';
import type { Attempt, RunOutcome, Results } from './results.ts';

export function summarizeBatch(plan: BatchPlan, { head, attempts }: Results): Batch {
  const lastOf = ({ id }: BatchTrial): Attempt | undefined =>
    attempts.findLast((attempt) => attempt.trial === id);
  const trialsOf = (kind: BatchTrial['kind']): BatchTrial[] =>
    plan.trials.filter((trial) => trial.kind === kind);
  const cells = plan.cells.map((cell) => {
    const trials = trialsOf('cell').filter(({ subject }) => subject === cell.id);
    return summarizeCell(cell, trials, attempts);
  });
  const controls = plan.controls.map(({ role, label }): Batch['controls'][number] => {
    const trial = trialsOf('control').find(({ subject }) => subject === role);
    const { outcome, error = 'it did not run', folder = '' } = (trial && lastOf(trial)) ?? {};
    const trouble = outcome === undefined ? error : judgeControl(role, outcome);
    const silentLoss =
      outcome?.noticed === 'silent' && outcome.lost
        ? { lost: outcome.lost, of: outcome.acked }
        : null;
    return { role, label, holds: trouble === '', trouble, silentLoss, folder, ...sealIn(outcome) };
  });
  const checks = trialsOf('check').flatMap((trial): Batch['checks'] => {
    const cell = cells.find(({ id }) => id === trial.subject);
    if (cell === undefined) return [];
    const { outcome, folder = '' } = lastOf(trial) ?? {};
    const verdict = outcome?.verdict ?? 'inconclusive';
    const before = cell.runs.map((run) => run.verdict ?? 'inconclusive');
    const agrees = agreement(verdict, before);
    const about = { cell: cell.id, label: cell.label, verdict, before, agrees, folder };
    return [{ ...about, ...sealIn(outcome) }];
  });
  const outcomes = attempts.flatMap(({ outcome }) => outcome ?? []);
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

const trust: readonly Batch['basis'][] = ['predicted', 'shortened', 'measured'];

/** A batch is worth what the least of its runs is worth. */
const weakestBasis = (bases: readonly Batch['basis'][]): Batch['basis'] =>
  trust.find((basis) => bases.includes(basis)) ?? 'measured';

/** 0 where no time went by. */
const perHour = (count: number, busyS: number): number =>
  busyS === 0 ? 0 : Number(((count * 3600) / busyS).toPrecision(3));

/** Those in which at least one cell came to a verdict. */
function conclusiveEvents(trials: readonly BatchTrial[], attempts: readonly Attempt[]): number {
  const ids = new Set(trials.map(({ id }) => id));
  const concluded = attempts.filter(
    ({ trial, outcome }) => ids.has(trial) && isConclusive(outcome),
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

/**
 * Alone, the cell must come to something that it also came to beside others. One that came to a grade
 * often may come to another once, by chance: the two disagree where Fisher's test says so.
 */
function agreement(verdict: VerdictWord, before: readonly VerdictWord[]): boolean | null {
  const alone = gradeOf(verdict);
  const beside = before.map(gradeOf).filter((grade) => grade !== undefined);
  if (alone === undefined || beside.length === 0) return null;
  const same = { count: beside.filter((grade) => grade === alone).length, of: beside.length };
  if (same.count > 0 || beside.length === 1) return same.count > 0;
  return fisher({ count: 1, of: 1 }, same) >= significance;
}

type Parts = Pick<Batch, 'axes' | 'cells' | 'controls' | 'checks' | 'events'>;
type Concluded = Parts &
  Pick<
    Batch,
    'sentence' | 'inconclusiveBecause' | 'reasons' | 'verdict' | 'contrasts' | 'differences'
  >;

/** All that follows from the parts of a batch. */
function conclude(parts: Parts): Concluded {
  const { cells } = parts;
  const reasons = reasonsIn(parts);
  const verdict = (): Batch['verdict'] => {
    if (reasons.length > 0) return 'inconclusive';
    if (cells.some(({ asExpected }) => asExpected === false)) return 'unexpected';
    return cells.some(({ open }) => open === true) ? 'open' : 'expected';
  };
  return {
    ...parts,
    sentence: sentenceOf(parts, reasons.length > 0),
    inconclusiveBecause: reasons.map(({ words }) => words),
    reasons,
    verdict: verdict(),
    ...comparePairs(parts),
  };
}

const reasonsIn = ({ cells, controls, checks }: Parts): Reason[] => [
  ...controls
    .filter(({ holds }) => !holds)
    .map(({ role, trouble, folder }) =>
      because('CONTROL_FAILED', `control ${role}: ${trouble}`, { role, folder }),
    ),
  ...checks
    .filter(({ agrees }) => agrees === false)
    .map(({ cell, label, verdict, before, folder }) => {
      const words = `${cell} (${label}) came to ${verdict} alone, and to ${before.join(', ')} beside others`;
      return because('RERUN_DIFFERS', words, { cell, verdict, folder });
    }),
  ...(checks.length > 0 && checks.every(({ agrees }) => agrees === null)
    ? [because('NO_RERUN', 'no rerun could be compared')]
    : []),
  ...(cells.every(({ verdict }) => verdict === 'inconclusive')
    ? [because('NO_VERDICT', 'no cell came to a verdict')]
    : []),
];

function sentenceOf({ cells, controls, checks, events }: Parts, provesNothing: boolean): string {
  const words = (['safe', 'exposed', 'lost', 'corrupt', 'inconclusive'] as const)
    .map((word) => [word, cells.filter(({ verdict }) => verdict === word).length] as const)
    .filter(([, count]) => count > 0)
    .map(([word, count]) => `${count} ${word}`);
  const unexpected = cells.filter(({ asExpected }) => asExpected === false).length;
  const open = cells.filter((cell) => cell.open === true).length;
  const agreeing = checks.filter(({ agrees }) => agrees === true).length;
  const holding = controls.filter(({ holds }) => holds);
  // How small a silent loss the batch's own controls proved that it sees.
  const [smallest] = holding
    .flatMap(({ silentLoss }) => silentLoss ?? [])
    .toSorted((a, b) => a.lost / a.of - b.lost / b.of);
  return [
    `${plural(cells.length, 'cell')} in ${plural(events, 'fault event')} that came to a verdict: ${words.join(', ')}`,
    unexpected === 0 ? 'none unexpected' : `${unexpected} not expected`,
    open > 0 && `${open} open: no expectation`,
    `${holding.length} of ${controls.length} controls hold`,
    smallest &&
      `a silent loss of ${countInWords(smallest.lost)} of ${countInWords(smallest.of)} commits was seen`,
    checks.length > 0 && `${agreeing} of ${checks.length} reruns alone agree`,
    provesNothing && 'so the batch proves nothing',
  ]
    .filter(Boolean)
    .join('; ');
}

/** Exit code as for a run; a cell without a verdict is `inconclusive` here, too. */
export function batchExitCode({ verdict, cells }: Pick<Batch, 'verdict' | 'cells'>): ExitCode {
  const without = cells.filter((cell) => cell.verdict === 'inconclusive');
  const failed = without.filter(({ runs }) => runs.every((run) => run.verdict === null));
  if (cells.length > 0 && failed.length === cells.length) return exitCode.infrastructure;
  if (verdict === 'unexpected') return exitCode.unexpected;
  if (verdict === 'inconclusive' || without.length > 0) return exitCode.inconclusive;
  return verdict === 'open' ? exitCode.open : exitCode.expected;
}

/** One fault event: several volumes may have been under it. */
interface Event {
  readonly verdict: VerdictWord;
  readonly silent: boolean;
}

function summarizeCell(
  { id, label, place, scenario, because }: Cell,
  trials: readonly BatchTrial[],
  all: readonly Attempt[],
): BatchCell {
  const own = all.filter(({ trial }) => trials.some((each) => each.id === trial));
  const last = trials.flatMap((each) => own.findLast(({ trial }) => trial === each.id) ?? []);
  const events = [...Map.groupBy(last, ({ event }) => event).values()].map(eventOf);
  const concluded = events.filter(({ verdict }) => verdict !== 'inconclusive');
  const outcomes = last.map(({ outcome }) => outcome).filter((outcome) => isConclusive(outcome));
  const { expected, counted } = scenario;
  const rate = (isHit: (event: Event) => boolean): Rate => {
    const count = concluded.filter(isHit).length;
    return { count, of: concluded.length, ...wilson(count, concluded.length) };
  };
  const median = (valueOf: (outcome: RunOutcome) => number | null | undefined): number | null =>
    medianOf(outcomes.flatMap((outcome) => valueOf(outcome) ?? [])) ?? null;
  const medianS = (valueOf: (outcome: RunOutcome) => number | null): number | null => {
    const ms = median(valueOf);
    return ms === null ? null : Math.round(ms) / 1000;
  };
  const words = verdictWords.map((word) => [
    ...[word, events.filter(({ verdict }) => verdict === word).length],
  ]);
  return {
    id,
    label,
    place: { ...place },
    verdict: worstWord(events.map(({ verdict }) => verdict)),
    expected: [...expected],
    ...(counted && { counted }),
    expectedServing: servingExpectationOf(scenario).expected,
    because,
    ...heldAgainst(scenario, outcomes),
    verdicts: Object.fromEntries(words) as BatchCell['verdicts'],
    damaged: rate(({ verdict }) => gradeOf(verdict) === 'damaged'),
    unsafe: rate(({ verdict }) => gradeOf(verdict) !== 'safe'),
    silent: concluded.filter(({ silent }) => silent).length,
    median: {
      lost: median(({ lost }) => lost),
      unreadableBeforeHeal: median(({ missing }) => missing?.unreadableBeforeHeal?.count),
      gone: median(({ missing }) => missing?.lost?.count),
      missingAfterHeal: median(({ missing }) => missing?.afterHeal?.count),
      acked: median(({ acked }) => acked),
      downtimeS: medianS(({ downtimeMs }) => downtimeMs),
      exposureS: medianS(({ exposureMs }) => exposureMs),
      secondMountS: median(({ secondMountS }) => secondMountS),
    },
    runs: last.map(({ folder, outcome, error = '' }) => ({
      folder,
      verdict: outcome?.verdict ?? null,
      sentence: outcome?.sentence ?? error,
      ...sealIn(outcome),
    })),
    discarded: own.length - last.length,
  };
}

/** One that was not expected decides; where none was, one that is open. */
function heldAgainst(
  scenario: Scenario,
  outcomes: readonly RunOutcome[],
): Pick<BatchCell, 'asExpected' | 'open'> {
  const all = outcomes.map((outcome) => judgeExpectation(scenario, outcome));
  const isOpen = all.some(({ open }) => open === true);
  if (all.some(({ asExpected, open }) => !asExpected && open !== true)) {
    return { asExpected: false };
  }
  return isOpen ? { asExpected: null, open: true } : { asExpected: all.length === 0 ? null : true };
}

const sealIn = (outcome: RunOutcome | undefined): Pick<RunOutcome, 'verdictSha256'> =>
  outcome?.verdictSha256 === undefined ? {} : { verdictSha256: outcome.verdictSha256 };

const isConclusive = (outcome: RunOutcome | undefined): outcome is RunOutcome =>
  outcome !== undefined && outcome.verdict !== 'inconclusive';

const eventOf = (volumes: readonly Attempt[]): Event => ({
  verdict: worstWord(volumes.map(({ outcome }) => outcome?.verdict ?? 'inconclusive')),
  silent: volumes.some(({ outcome }) => outcome?.noticed === 'silent'),
});

/** Cells outside the grid, and those that came to no verdict, are compared with nothing. */
export function comparePairs({
  axes,
  cells,
}: Pick<Batch, 'axes' | 'cells'>): Pick<Batch, 'contrasts' | 'differences'> {
  const keyOf = (place: BatchCell['place']): string =>
    JSON.stringify(axes.map(({ name }) => place[name]));
  const byPlace = new Map(
    cells
      .filter(({ place, verdict }) => Object.keys(place).length > 0 && verdict !== 'inconclusive')
      .map((cell) => [keyOf(cell.place), cell]),
  );
  const differences: CellDifference[] = [];
  const contrasts: Batch['contrasts'] = [];
  for (const { name: axis, labels, unlike = [] } of axes) {
    for (const [from, to] of pairsOf(labels)) {
      if (unlike.some(([a, b]) => a === from && b === to)) continue;
      const count = { pairs: 0, changed: 0, better: 0 };
      for (const cell of byPlace.values()) {
        const twin = byPlace.get(keyOf({ ...cell.place, [axis]: to }));
        if (cell.place[axis] !== from || twin === undefined) continue;
        count.pairs += 1;
        const order = orderOf(cell, twin);
        if (order === 0) continue;
        count.changed += 1;
        if (order > 0) count.better += 1;
        const { [axis]: _, ...others } = cell.place;
        differences.push({
          ...{ axis, from, to, elsewhere: placeInWords(others) },
          ...{ fromCell: cell.id, toCell: twin.id },
          ...{ fromVerdict: cell.verdict, toVerdict: twin.verdict },
          ...difference(cell.damaged, twin.damaged),
        });
      }
      contrasts.push({ axis, from, to, ...count });
    }
  }
  return { contrasts, differences };
}

const pairsOf = (labels: readonly string[]): [string, string][] =>
  labels.flatMap((from, index) =>
    labels.slice(index + 1).map((to): [string, string] => [from, to]),
  );

/** Above zero where the twin is the better. */
function orderOf(cell: BatchCell, twin: BatchCell): number {
  const [a, b] = [gradeOf(cell.verdict), gradeOf(twin.verdict)];
  return a === undefined || b === undefined ? 0 : compareGrades(a, b);
}

/** Pairs of labels that differ in more than one thing. None of an axis that is a field. */
export function unlikeLabels({ name, values }: Axis, cells: readonly Cell[]): [string, string][] {
  const elsewhere = ({ place }: Cell): string => JSON.stringify({ ...place, [name]: '' });
  const byPlace = [...Map.groupBy(cells, elsewhere).values()].map(
    (group) => new Map(group.map(({ place, scenario }) => [place[name], scenario])),
  );
  return pairsOf(values.map(({ label }) => label)).filter(([from, to]) =>
    byPlace.some((scenarios) => {
      const [a, b] = [scenarios.get(from), scenarios.get(to)];
      return a !== undefined && b !== undefined && !isOneChange(a, b);
    }),
  );
}

/** Fields that only change together are one change: what cuts `ack-early` off comes with that disk. */
function isOneChange(a: Scenario, b: Scenario): boolean {
  const changed = fieldNames.filter(
    (field) => !notDone.has(field) && !isDeepStrictEqual(valueAt(a, field), valueAt(b, field)),
  );
  const fits = (scenario: Scenario, other: Scenario, field: FieldName): boolean =>
    contradictions(withValues(scenario, [[field, valueAt(other, field)]])).length === 0;
  const alone = changed.filter((field) => fits(a, b, field) && fits(b, a, field));
  return alone.length + (alone.length < changed.length ? 1 : 0) <= 1;
}

interface BatchShard {
  readonly batch: Batch;
  /** Path of its folder, as seen from the merged batch's. */
  readonly path: string;
}

/**
 * Shards of one matrix, run apart, as one batch: all cells compared, every shard's controls count. Throws
 * UsageError `SHARDS_DIFFER` where they are of different matrices, ran on different Kubernetes, or share a cell.
 */
export function mergeBatches(shards: readonly BatchShard[]): Batch {
  const batches = shards.map(({ batch }) => batch);
  const [first] = batches;
  if (first === undefined) {
    throw new UsageError('NO_SHARDS', 'there is nothing to merge', {
      hint: 'give the new folder first, then the folder of each batch',
    });
  }
  const stranger = batches.find((batch) => identity(batch) !== identity(first));
  if (stranger !== undefined) throw differ(`one is of ${identity(stranger)}`);
  const releases = kubernetesThatDiffer(batches);
  if (releases.length > 0) throw differ(`they ran on Kubernetes ${releases.join(' and ')}`);
  const within = <T extends { readonly folder: string }>(all: readonly T[], path: string): T[] =>
    all.map((each) => ({ ...each, folder: `${path}/${each.folder}` }));
  const cells = shards.flatMap(({ batch, path }) =>
    batch.cells.map((cell) => ({ ...cell, runs: within(cell.runs, path) })),
  );
  const twice = cells.find(({ id }, index) => cells.findIndex((each) => each.id === id) < index);
  if (twice !== undefined) throw differ(`${twice.id} is in two of them`);
  const busyS = sumOf(batches.map((batch) => batch.busyS));
  const events = sumOf(batches.map((batch) => batch.events));
  return {
    ...first,
    ...conclude({
      axes: first.axes,
      cells: cells.toSorted((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true })),
      controls: shards.flatMap(({ batch, path }) => within(batch.controls, path)),
      checks: shards.flatMap(({ batch, path }) => within(batch.checks, path)),
      events,
    }),
    basis: weakestBasis(batches.map(({ basis }) => basis)),
    startedAt: batches.map(({ startedAt }) => startedAt).toSorted()[0] ?? first.startedAt,
    busyS,
    eventsPerHour: perHour(events, busyS),
    worstTimerLagMs: Math.max(...batches.map((batch) => batch.worstTimerLagMs)),
    timerDistortion: Math.max(...batches.map((batch) => batch.timerDistortion)),
  };
}

const identity = ({ name, seed, cluster, axes }: Batch): string =>
  `${name} on ${cluster} with seed ${seed} and axes ${JSON.stringify(axes)}`;

/**
 * Cells may differ in it where the file says so: in an axis, or in one shard already. Then each minor
 * must be one patch in all of them. A shard in which no run came to its end says nothing.
 */
function kubernetesThatDiffer(batches: readonly Batch[]): string[] {
  const recorded = batches.map(({ versions }) => versions?.['kubernetes'] ?? []);
  const asked = batches.flatMap(({ axes }) =>
    axes.filter(({ name }) => name === 'kubernetes').flatMap(({ labels }) => labels),
  );
  const differsByFile =
    asked.length > 0 || recorded.some((all) => new Set(all.map(minorOf)).size > 1);
  const releases = [...new Set(recorded.flat())].filter((each) => !asked.includes(each)).toSorted();
  return releases.filter((each) =>
    releases.some(
      (other) => other !== each && (!differsByFile || minorOf(other) === minorOf(each)),
    ),
  );
}

const differ = (why: string): UsageError =>
  new UsageError('SHARDS_DIFFER', `these are not shards of one batch: ${why}`, {
    hint: 'run all shards of one file with the same --seed and --kubernetes',
  });
