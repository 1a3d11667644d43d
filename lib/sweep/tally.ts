/**
 * What a stretch of a sweep came to. Tallies are plain data, so that workers can send them, and they
 * join in any order to the same whole.
 */
import { z } from 'zod';
import { scenarioSchema } from '../scenario/index.ts';
import { countTransitions, pairCount } from './coverage.ts';
import { changedFields } from './settle.ts';
import { harms, judge } from './judge-schedule.ts';
import { knownPaths, answersYes, pathRowOf } from './paths.ts';
import type { ScheduleOutcome } from './play.ts';
import type { Schedule } from './generate.ts';

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

const rowSchema = z.object({
  asked: count,
  yes: count,
  /** The first that answered yes. */
  example: exampleSchema.optional(),
});
const seenSchema = z.object({ count, example: exampleSchema });
type CountedExample = z.output<typeof seenSchema>;

/** What was seen of how one thing follows another (coverage.ts). */
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

/** Fewer changed fields are simpler; of as many the earlier one. */
const simpler = (a: ScheduleExample, b: ScheduleExample): boolean => {
  const difference = changedFields(a.scenario).length - changedFields(b.scenario).length;
  return difference === 0 ? a.index < b.index : difference < 0;
};

const earlier = (a: ScheduleExample, b: ScheduleExample): boolean => a.index < b.index;

export function addOutcome(tally: Tally, schedule: Schedule, outcome: ScheduleOutcome): void {
  const { index, scenario, seed } = schedule;
  const example: ScheduleExample = { index, seed, scenario };
  tally.schedules += 1;
  tally.virtualMs += Math.round(outcome.endedAtUs / 1000);
  if (scenario.remedy !== 'none') tally.remediesDrawn += 1;
  if (outcome.remedied) tally.remediesActed += 1;
  const { broken, key, licence } = judge(outcome);
  if (broken.length > 0) addFinding(tally, { ...example, key, broken, licence, count: 1 });
  const row = pathRowOf(scenario);
  if (row !== undefined) {
    addRow(tally, row, answersYes(outcome) ? { asked: 1, yes: 1, example } : { asked: 1, yes: 0 });
  }
  for (const { name, shows } of knownPaths) {
    if (shows(outcome)) addSeen(tally.paths, name, { count: 1, example });
  }
  countTransitions(outcome.trace, tally.transitions, (pair) => {
    tally.firstSeen[pair] = example;
  });
}

/** Adds `more` to `tally`. */
export function joinTally(tally: Tally, more: Tally): void {
  tally.schedules += more.schedules;
  tally.virtualMs += more.virtualMs;
  tally.remediesDrawn += more.remediesDrawn;
  tally.remediesActed += more.remediesActed;
  for (const finding of Object.values(more.findings)) addFinding(tally, finding);
  for (const [name, row] of Object.entries(more.rows)) addRow(tally, name, row);
  for (const [name, seen] of Object.entries(more.paths)) addSeen(tally.paths, name, seen);
  joinCoverage(tally, more);
}

/** Adds `more` to `coverage`. */
export function joinCoverage(coverage: Coverage, more: Coverage): void {
  more.transitions.forEach((count, pair) => {
    coverage.transitions[pair] = (coverage.transitions[pair] ?? 0) + count;
  });
  for (const [pair, example] of Object.entries(more.firstSeen)) {
    const before = coverage.firstSeen[Number(pair)];
    if (before === undefined || earlier(example, before)) {
      coverage.firstSeen[Number(pair)] = example;
    }
  }
}

function addFinding({ findings }: Tally, finding: SweepFinding): void {
  const before = findings[finding.key];
  if (before === undefined) findings[finding.key] = finding;
  else {
    const count = before.count + finding.count;
    findings[finding.key] = { ...(simpler(finding, before) ? finding : before), count };
  }
}

function addRow(
  { rows }: Tally,
  name: string,
  { asked, yes, example }: z.output<typeof rowSchema>,
): void {
  const before = rows[name] ?? { asked: 0, yes: 0 };
  const first =
    before.example !== undefined && (example === undefined || earlier(before.example, example))
      ? before.example
      : example;
  rows[name] = {
    asked: before.asked + asked,
    yes: before.yes + yes,
    ...(first === undefined ? {} : { example: first }),
  };
}

function addSeen(all: Record<string, CountedExample>, name: string, seen: CountedExample): void {
  const before = all[name];
  if (before === undefined) all[name] = seen;
  else {
    const { example } = earlier(seen.example, before.example) ? seen : before;
    all[name] = { count: before.count + seen.count, example };
  }
}
