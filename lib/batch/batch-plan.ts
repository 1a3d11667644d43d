/** What a batch will run, and in which order: drawn from the seed, so that a restart agrees. */
import { createHash } from 'node:crypto';
import { controlPlaneFaults, type Scenario } from '../scenario/index.ts';
import { randomStream, type RandomStream } from '../core/index.ts';
import { fitsPlace, type Cell } from './cells.ts';
import { controlsOf, type Control } from './controls.ts';
import { isLoud, type Matrix } from './matrix-schema.ts';

/** One run that the batch owes. */
export interface BatchTrial extends Pick<Cell, 'id' | 'label' | 'scenario'> {
  /** `check`: a cell once more, alone on its victim and its cluster, with its first run's seed. */
  readonly kind: 'cell' | 'control' | 'check';
  /** Id of the cell, or role of the control. */
  readonly subject: string;
  readonly seed: string;
  /** Nothing else may run meanwhile, on no cluster. */
  readonly alone: boolean;
}

export interface BatchPlan {
  readonly matrix: Matrix;
  readonly seed: string;
  readonly cells: readonly Cell[];
  readonly controls: readonly Control[];
  /** In the order in which they begin. */
  readonly trials: readonly BatchTrial[];
  /** The same for the same trials, whatever the file looks like. */
  readonly fingerprint: string;
}

/**
 * In random order, so that nothing slow (a filling disk, a warming machine) can look like an axis.
 * All runs of one repeat share a seed, so that two cells differ in their axes only.
 */
export function batchPlanOf(matrix: Matrix, cells: readonly Cell[], seed: string): BatchPlan {
  const random = randomStream(seed);
  const controls = controlsOf(matrix.base);
  const comparable = cells.filter((cell) => repeatsOf(matrix, cell).alone === 0);
  const checked = shuffled(comparable, random.stream('checks')).slice(
    0,
    Math.ceil(comparable.length * matrix.rerunAlone),
  );
  const trials = [
    ...cells.flatMap((cell) => cellTrials(matrix, cell, seed)),
    ...controls.map((control) => controlTrial(control, seed)),
    ...checked.map((cell) => checkTrial(cell, seed)),
  ];
  const ordered = around(shuffled(trials, random.stream('order')), cells.length);
  const fingerprint = createHash('sha256')
    .update(JSON.stringify(ordered.map(doneIn)))
    .digest('hex');
  return { matrix, seed, cells, controls, trials: ordered, fingerprint };
}

/** Without what is expected of it: what was counted meanwhile makes no other batch. */
function doneIn({ scenario, ...trial }: BatchTrial): unknown {
  const { expected: _, expectedServing: __, counted: ___, ...done } = scenario;
  return { ...trial, scenario: done };
}

const seedOf = (seed: string, repeat: number): string => `${seed}-${repeat}`;

/** How many fault events a cell has, and how many of them have the machine to themselves. */
function repeatsOf(
  { repeats, repeatsOf: rules }: Matrix,
  { place }: Cell,
): { readonly repeats: number; readonly alone: number } {
  const inGrid = Object.keys(place).length > 0;
  const rule = inGrid ? rules.find(({ cells }) => fitsPlace(cells, place)) : undefined;
  return rule ?? { repeats, alone: 0 };
}

/** The last of them are those alone. */
function cellTrials(matrix: Matrix, cell: Cell, seed: string): BatchTrial[] {
  const { repeats, alone } = repeatsOf(matrix, cell);
  return Array.from({ length: repeats }, (_, index) => {
    const trial = cellTrial(cell, index + 1, seed);
    return { ...trial, alone: trial.alone || index >= repeats - alone };
  });
}

const cellTrial = ({ id, label, scenario }: Cell, repeat: number, seed: string): BatchTrial => ({
  id: `${id}.${repeat}`,
  kind: 'cell',
  subject: id,
  label,
  scenario,
  seed: seedOf(seed, repeat),
  alone: disturbs(scenario),
});

const checkTrial = (cell: Cell, seed: string): BatchTrial => ({
  ...cellTrial(cell, 1, seed),
  id: `${cell.id}.alone`,
  kind: 'check',
});

const controlTrial = ({ role, label, scenario }: Control, seed: string): BatchTrial => ({
  id: `control-${role}`,
  kind: 'control',
  subject: role,
  label,
  scenario,
  seed: seedOf(seed, 1),
  alone: false,
});

/**
 * What has the machine to itself begins first and in one row: each later one would have to wait until
 * all others have ended, and the clusters beside would not be there yet. What is no cell tells of no
 * axis, and is put where it costs the least time: the longest rerun, which wants a cluster to itself,
 * begins beside the cells; the other reruns and the controls begin once the first events have ended,
 * the longest first. Where cells repeat they begin before the cells: such a batch is worth something
 * when it is ended early, but for its controls.
 */
function around(drawn: readonly BatchTrial[], cells: number): BatchTrial[] {
  const ofKind = (kind: BatchTrial['kind']): BatchTrial[] =>
    drawn.filter((trial) => trial.kind === kind);
  const byLength = (trials: readonly BatchTrial[]): BatchTrial[] =>
    trials.toSorted((a, b) => lengthMs(b.scenario) - lengthMs(a.scenario));
  const [first, ...reruns] = byLength(ofKind('check'));
  const ahead = first === undefined ? [] : [first];
  const [alone, beside] = [true, false].map((wanted) =>
    ofKind('cell').filter((trial) => trial.alone === wanted),
  ) as [BatchTrial[], BatchTrial[]];
  const others = byLength([...reruns, ...ofKind('control')]);
  return alone.length + beside.length > cells
    ? [...alone, ...ahead, ...others, ...beside]
    : [...alone, ...ahead, ...beside, ...others];
}

/** At most, roughly: a database that is damaged is waited for twice. */
function lengthMs(scenario: Scenario): number {
  const { remedyAt, horizonMs, expected, patienceMs, convergeMs } = scenario;
  const mayBeDamaged = expected.includes('corrupt');
  const untilHeal = typeof remedyAt === 'number' ? remedyAt : horizonMs;
  return untilHeal + (mayBeDamaged ? patienceMs + convergeMs : 0);
}

/** Would a neighbour notice: a fault of what others share, or one that takes the machine's time. */
export function disturbs({ fault, also, rate }: Scenario): boolean {
  const shared: readonly string[] = [...controlPlaneFaults, 'cpu-starvation'];
  return isLoud(rate) || shared.includes(fault) || shared.includes(also);
}

/** By a draw for each; the items themselves stay in their order. */
function shuffled<T>(items: readonly T[], random: RandomStream): T[] {
  const order = items.map((item) => ({ item, draw: random.float() }));
  return order.toSorted((a, b) => a.draw - b.draw).map(({ item }) => item);
}
