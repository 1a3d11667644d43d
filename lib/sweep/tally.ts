/**
 * A stretch of a sweep and what it came to. Tallies are plain data, so that workers can send them, and they
 * join in any order to the same whole.
 */
import { z } from 'zod';
import { InfrastructureError } from '../core/index.ts';
import { scenarioSchema } from '../scenario/index.ts';
import { noticeNames } from '../sim/index.ts';
import { harms, judge, knownPaths, answersYes, pathRowOf } from './judge.ts';
import { type ScheduleOutcome, play } from './play.ts';
import type { Trace } from './scene.ts';
import {
  changedFields,
  scheduleAt,
  sweepKey,
  type Corpus,
  type Schedule,
  type ScheduleSource,
} from './schedule.ts';

const begin = noticeNames.length;
/** A pair of notices as one number: `from` times this, plus `to`. */
const width = noticeNames.length + 1;
const pairCount = width * width;

const count = z.number().int().nonnegative();
const name = z.string().max(1000);

/** The simplest schedule that showed it, so far. */
const exampleSchema = z.object({ index: count, seed: z.string(), scenario: scenarioSchema });
export type ScheduleExample = z.output<typeof exampleSchema>;

const findingSchema = exampleSchema.extend({
  key: name,
  broken: z.array(z.enum(harms)).readonly(),
  /** Names of notices. */
  licence: z.array(z.string()).readonly(),
  /** Schedules that showed it. */
  count,
});
export type SweepFinding = z.output<typeof findingSchema>;

/** `example`: the first that answered yes. */
const rowSchema = z.object({ asked: count, yes: count, example: exampleSchema.optional() });
const seenSchema = z.object({ count, example: exampleSchema });

/** Transitions: one notice after another on one node. */
export const coverageSchema = z.object({
  /** How often each pair of notices was seen. */
  transitions: z.array(count).length(pairCount),
  /** What showed a pair first, by pair. */
  firstSeen: z.record(z.string().regex(/^\d+$/), exampleSchema),
});
export type Coverage = z.output<typeof coverageSchema>;

export const tallySchema = z.object({
  schedules: count,
  /** Virtual time of all schedules; in whole milliseconds, so that sums are exact in any order. */
  virtualMs: count,
  /** Schedules with a remedy, and those in which it acted before the heal. */
  remediesDrawn: count,
  remediesActed: count,
  /** By key. */
  findings: z.record(name, findingSchema),
  /** By name. */
  rows: z.record(name, rowSchema),
  /** Known paths by name. */
  paths: z.record(name, seenSchema),
  ...coverageSchema.shape,
});
export type Tally = z.output<typeof tallySchema>;

export const emptyCoverage = (): Coverage => ({
  transitions: Array.from<number>({ length: pairCount }).fill(0),
  firstSeen: {},
});

export const emptyTally = (): Tally => ({
  ...{ schedules: 0, virtualMs: 0, remediesDrawn: 0, remediesActed: 0 },
  ...{ findings: {}, rows: {}, paths: {} },
  ...emptyCoverage(),
});

export interface ScheduleRange extends Omit<ScheduleSource, 'key'> {
  readonly from: number;
  readonly count: number;
}

/** Throws InfrastructureError `SCHEDULE_FAILED`: what a sweep can't play is a fault of its own. */
export function playRange({ seed, corpus, disk, from, count }: ScheduleRange): Tally {
  const tally = emptyTally();
  const sweep = { seed, corpus, disk, key: sweepKey(seed) };
  for (let index = from; index < from + count; index++) {
    const schedule = scheduleAt(sweep, index);
    try {
      addOutcome(tally, schedule, play(schedule.scenario, schedule.seed));
    } catch (cause) {
      throw new InfrastructureError('SCHEDULE_FAILED', `the model cannot play schedule ${index}`, {
        hint: `this is a bug in the model; please report it with the seed ${schedule.seed}`,
        cause,
      });
    }
  }
  return tally;
}

function addOutcome(tally: Tally, schedule: Schedule, outcome: ScheduleOutcome): void {
  const { index, scenario, seed } = schedule;
  const example: ScheduleExample = { index, seed, scenario };
  tally.schedules += 1;
  tally.virtualMs += Math.round(outcome.endedAtUs / 1000);
  if (scenario.remedy.kind !== 'none') tally.remediesDrawn += 1;
  if (outcome.remediedUs !== undefined) tally.remediesActed += 1;
  const { broken, key, licence } = judge(outcome);
  if (broken.length > 0) addFinding(tally, { ...example, key, broken, licence, count: 1 });
  const row = pathRowOf(scenario);
  if (row !== undefined) {
    addRow(tally, row, answersYes(outcome) ? { asked: 1, yes: 1, example } : { asked: 1, yes: 0 });
  }
  for (const { name, shows } of knownPaths) {
    if (shows(outcome)) addSeen(tally, name, { count: 1, example });
  }
  countTransitions(outcome.trace, tally, example);
}

/** The last notice of each node, and of none; overwritten by every schedule. */
const last: number[] = [];

function countTransitions(
  { codes, nodes }: Trace,
  counts: Coverage,
  example: ScheduleExample,
): void {
  last.fill(begin);
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0;
    const node = (nodes[at] ?? -1) + 1;
    const pair = (last[node] ?? begin) * width + code;
    last[node] = code;
    const before = counts.transitions[pair] ?? 0;
    counts.transitions[pair] = before + 1;
    if (before === 0) counts.firstSeen[pair] = example;
  }
}

/** Adds `more` to `tally`. */
export function joinTally(tally: Tally, more: Tally): void {
  for (const sum of ['schedules', 'virtualMs', 'remediesDrawn', 'remediesActed'] as const) {
    tally[sum] += more[sum];
  }
  for (const finding of Object.values(more.findings)) addFinding(tally, finding);
  for (const [name, row] of Object.entries(more.rows)) addRow(tally, name, row);
  for (const [name, seen] of Object.entries(more.paths)) addSeen(tally, name, seen);
  joinCoverage(tally, more);
}

/** Adds `more` to `coverage`. */
export function joinCoverage({ transitions, firstSeen }: Coverage, more: Coverage): void {
  more.transitions.forEach((count, pair) => {
    transitions[pair] = (transitions[pair] ?? 0) + count;
  });
  for (const [pair, example] of Object.entries(more.firstSeen)) {
    firstSeen[pair] = earlierOf(firstSeen[pair], example);
  }
}

const earlierOf = <E extends ScheduleExample | undefined>(a: ScheduleExample | undefined, b: E) =>
  a !== undefined && (b === undefined || a.index <= b.index) ? a : b;

/** Fewer changed fields are simpler; of as many the earlier one. */
const simpler = (a: ScheduleExample, b: ScheduleExample): boolean => {
  const difference = changedFields(a.scenario).length - changedFields(b.scenario).length;
  return difference === 0 ? a.index < b.index : difference < 0;
};

function addFinding({ findings }: Tally, finding: SweepFinding): void {
  const before = findings[finding.key] ?? { ...finding, count: 0 };
  const count = before.count + finding.count;
  findings[finding.key] = { ...(simpler(finding, before) ? finding : before), count };
}

function addRow({ rows }: Tally, name: string, more: Tally['rows'][string]): void {
  const before = rows[name] ?? { asked: 0, yes: 0 };
  const example = earlierOf(before.example, more.example);
  const counts = { asked: before.asked + more.asked, yes: before.yes + more.yes };
  rows[name] = { ...counts, ...(example && { example }) };
}

function addSeen({ paths }: Tally, name: string, seen: Tally['paths'][string]): void {
  const { count = 0, example } = paths[name] ?? {};
  paths[name] = { count: count + seen.count, example: earlierOf(example, seen.example) };
}

interface Transition {
  readonly from: string;
  readonly to: string;
  readonly count: number;
}

const textOf = (code: number): string => noticeNames[code] ?? 'begin';

/** The rarest first. */
export const transitionsSeen = ({ transitions }: Pick<Coverage, 'transitions'>): Transition[] =>
  rarest(transitions).map(({ pair, count }) => ({
    from: textOf(Math.floor(pair / width)),
    to: textOf(pair % width),
    count,
  }));

const rarest = (counts: readonly number[]): { pair: number; count: number }[] =>
  counts
    .map((count, pair) => ({ pair, count }))
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => a.count - b.count || a.pair - b.pair);

/** So many rare transitions give a scenario to the corpus. */
const corpusSize = 64;

/** Scenarios that showed the rare transitions, from which later schedules are drawn as well. */
export const corpusOf = ({ transitions, firstSeen }: Coverage): Corpus =>
  rarest(transitions)
    .slice(0, corpusSize)
    .flatMap(({ pair }) => firstSeen[pair]?.scenario ?? []);
