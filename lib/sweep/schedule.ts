/** The index-th schedule of a sweep: drawn at random, or a mutant of the corpus, and settled so that its fields fit together. */
import { isDeepStrictEqual } from 'node:util';
import {
  contradictions,
  parseScenario,
  type Scenario,
  type DiskMode,
  fields,
  fieldNames,
  type FieldName,
  type Swept,
  type Dice,
  withValues,
  valueAt,
  type SettableName,
  settableNames,
} from '../scenario/index.ts';
import { Chance } from '../sim/index.ts';
import { key32, mix32 } from '../core/index.ts';

/** Every field at its default: no fault, no remedy. */
export const plainScenario: Scenario = parseScenario({
  name: 'sweep',
  question: 'What becomes of the volume under this schedule?',
  fault: { kind: 'none' },
  expected: ['safe'],
});

/** A rule names one field; these belong to it. */
const together: Partial<Readonly<Record<FieldName, readonly FieldName[]>>> = {
  'also.at': ['also.for'],
  'selfFence.after': ['timers.grace'],
};

/** Without a fault none of the events comes that a remedy could wait for. */
const atOnceMs = 0;

/** More passes than there are rules that can follow from each other. */
const mostPasses = 12;

export function settle(drawn: Scenario): Scenario {
  let scenario = drawn;
  for (let pass = 0; pass < mostPasses; pass++) {
    const broken = contradictions(scenario);
    if (broken.length === 0) return scenario;
    const fields = broken.flatMap(({ field }) => [field, ...(together[field] ?? [])]);
    scenario = withValues(
      scenario,
      fields.map((field) => [
        field,
        field === 'remedy.at' && scenario.fault.kind === 'none'
          ? atOnceMs
          : valueAt(plainScenario, field),
      ]),
    );
  }
  throw new RangeError(`these fields never fit together: ${JSON.stringify(drawn)}`);
}

/** Whether a field has its default; by value, since a schedule from another thread is a copy. */
export function hasDefault(scenario: Scenario, field: FieldName): boolean {
  const [value, stock] = [valueAt(scenario, field), valueAt(plainScenario, field)];
  return value === stock || isDeepStrictEqual(value, stock);
}

/** Fields that differ from their defaults, without name, question and expectation. */
export const changedFields = (scenario: Scenario): SettableName[] =>
  settableNames.filter((field) => !hasDefault(scenario, field));

// The index-th schedule of a sweep: drawn anew, or one of the corpus with a few of its factors drawn
// anew. It depends on the sweep's seed, the index and the corpus alone.

export interface Schedule {
  readonly index: number;
  readonly scenario: Scenario;
  readonly seed: string;
}

/** Scenarios that showed what is rarely seen. */
export type Corpus = readonly Scenario[];

/** So often the corpus is taken, where there is one. */
const corpusShare = 0.3;
/** So many of its factors are drawn anew, at most. */
const mostMutations = 3;
/** Shares of the other factors: a schedule draws none, a few, or all. */
const extraShares = [0, 0.1, 1];

/** The sweep that a schedule is of. */
export interface ScheduleSource {
  readonly seed: string;
  /** `sweepKey` of the seed. */
  readonly key: number;
  readonly corpus: Corpus;
  /** The disk of every schedule. Default: drawn. */
  readonly disk?: DiskMode | undefined;
}

export function scheduleAt(sweep: ScheduleSource, index: number): Schedule {
  const draws = new Draws(sweep.key, index);
  const { corpus, disk } = sweep;
  const isMutant = corpus.length > 0 && draws.chance(corpusShare);
  const drawn = isMutant ? mutantOf(draws.pick(corpus), draws) : drawnWith(draws);
  const scenario = settle(
    disk === undefined ? drawn : { ...drawn, disk: { ...drawn.disk, mode: disk } },
  );
  return { index, scenario, seed: `${sweep.seed}/${index}` };
}

function drawnWith(draws: Draws): Scenario {
  const share = draws.pick(extraShares);
  const drawn: (readonly [FieldName, unknown])[] = [];
  for (const { field, draw, isAsked } of factors) {
    if (isAsked || draws.chance(share)) drawn.push([field, draw(draws)]);
  }
  return withValues(plainScenario, drawn);
}

function mutantOf(parent: Scenario, draws: Draws): Scenario {
  const drawn: (readonly [FieldName, unknown])[] = [];
  for (let left = draws.int(1, mostMutations); left > 0; left--) {
    const { field, draw } = draws.pick(factors);
    drawn.push([field, draw(draws)]);
  }
  return withValues(parent, drawn);
}

/** The factors of a schedule: the fields that a sweep draws, in the order in which they are drawn. */
interface Factor extends Pick<Swept, 'isAsked' | 'asksNoRow'> {
  readonly field: FieldName;
  readonly draw: (draws: Draws) => unknown;
}

/** Schedules are written down by seed and number, and drawn in this order; a new field goes last. */
const order = [
  ...['fault.kind', 'remedy.kind', 'remedy.at', 'disk.mode', 'fault.link', 'fault.reboot'],
  ...['fault.rebootAt', 'fault.cpuShare', 'fault.down', 'fault.up', 'also.kind', 'also.at'],
  ...['also.for', 'remedy.untaintAt', 'workload.terminationGrace', 'workload.finalizer'],
  ...['timers.forceDetach', 'remedy.moveBack', 'workload.preStop', 'workload.kind'],
  ...['disk.cutAfter', 'disk.watcherCheck', 'disk.attachWhileBusy', 'disk.fileLocks'],
  ...['volume.filesystem', 'volume.accessMode', 'disk.flushes', 'fault.powerLoss', 'load.rate'],
  ...['database.trxCommit', 'selfFence.kind', 'selfFence.after', 'kubernetes.version'],
  ...['timers.grace', 'timers.toleration', 'timers.forceDetachAfter', 'watch.warmup'],
  ...['watch.overlap', 'watch.horizon', 'fault.serverKills'],
] as readonly FieldName[];

export const factors: readonly Factor[] = [...new Set([...order, ...fieldNames])].flatMap(
  (field) => {
    const { swept, stock } = fields[field];
    if (swept === undefined) return [];
    const { share, draw, ...traits } = swept;
    if (share === undefined) return [{ field, draw, ...traits }];
    return [{ field, draw: (draws) => (draws.chance(share) ? draw(draws) : stock), ...traits }];
  },
);

/** Chance of a sweep: what it draws of a schedule depends on the sweep's key and the schedule's number. */
class Draws extends Chance implements Dice {
  /** Seeds it for the index-th schedule of a sweep. */
  constructor(sweepKey: number, index: number) {
    super(mix32(sweepKey, index));
    // Schedules that are written down by seed and number count from the second draw on.
    this.float();
  }

  /** True so often. */
  chance(share: number): boolean {
    return this.float() < share;
  }

  pick<T>(values: readonly T[]): T {
    const value = values[this.int(0, values.length - 1)];
    if (value === undefined) throw new RangeError('nothing to pick from');
    return value;
  }
}

export const sweepKey = (seed: string): number => key32(`sweep ${seed}`);
