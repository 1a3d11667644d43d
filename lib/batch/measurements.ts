/**
 * data/measurements.jsonl: all that was measured, one line each, from which pages and expectations are made. A
 * line says what was done, what came, and where that is from; what it says of the two in detail is its kind's.
 */
import { isDeepStrictEqual } from 'node:util';
import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { writeOutput } from '../core/index.ts';
import { recordedScenario, type SmallRecord } from '../history/index.ts';
import {
  type VerdictWord,
  expectationOf,
  expectedOf,
  pressureSchema,
  situationOf,
  stockDatabaseName,
} from '../judge/index.ts';
import {
  type Counts,
  type Scenario,
  safetyLevels,
  shortenedTimers,
  verdictWords,
  settingsFrom,
  valuesIn,
  earlierField,
  valueAt,
} from '../scenario/index.ts';

/** Timers as Kubernetes ships them (or none that count), or shortened ones; a prediction is no measurement. */
export const measuredBasis = z.enum(['measured', 'shortened']);

/** What every line has. A kind extends it: its name, its `scenario`, its `outcome`. */
export const lineSchema = z.strictObject({
  kind: z.string(),
  /** Unique in its kind. */
  id: z.string(),
  /** Within its source, where several volumes were under one fault event. */
  event: z.string().optional(),
  /** What was done, to what. */
  scenario: z.record(z.string(), z.unknown()),
  /** Null where it was not recorded; so are `basis`, `alone`, `pressure` and `date`. */
  seed: z.string().nullable(),
  outcome: z.record(z.string(), z.unknown()),
  basis: measuredBasis.nullable(),
  machine: z
    .strictObject({
      /** The run had it to itself, or others ran meanwhile. */
      alone: z.boolean().nullable(),
      /** From the fault to the second image. */
      pressure: pressureSchema.nullable(),
    })
    .optional(),
  /** By the names of a run's setup record; what was not recorded is absent. */
  versions: z.record(z.string(), z.string()),
  /** Folder of the run or of its batch, or the command that made it. */
  source: z.string(),
  /** `COMMIT:FOLDER`, where git has the raw records; absent if they were never committed. */
  records: z
    .string()
    .regex(/^[0-9a-f]{40}:/)
    .optional(),
  /** ISO 8601, a day at least. */
  date: z.string().nullable(),
});
export type StoredLine = Readonly<z.output<typeof lineSchema>>;

type Kind<T> = z.ZodType<T> & { readonly shape: { readonly kind: { readonly value: string } } };

export const storePath = new URL('../../data/measurements.jsonl', import.meta.url);

const textLines = (path: URL): string[] =>
  existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];

/** The lines of one kind; none where there is no store. */
export const linesOf = <T>(kind: Kind<T>, path: URL = storePath): T[] =>
  textLines(path)
    .filter((text) => text.startsWith(`{"kind":"${kind.shape.kind.value}",`))
    .map((text) => kind.parse(JSON.parse(text)));

export const allLines = (path: URL = storePath): StoredLine[] =>
  textLines(path).map((text) => lineSchema.parse(JSON.parse(text)));

/** Puts the newer of two lines of one kind with one id in the place of the older. */
export function merged<T extends StoredLine>(older: readonly T[], newer: readonly T[]): T[] {
  const byId = new Map<string, T>();
  for (const line of [...older, ...newer]) {
    const key = `${line.kind} ${line.id}`;
    const { date, records } = byId.get(key) ?? {};
    // The same run, read again: its raw records stay where they are.
    const isSame = records !== undefined && line.records === undefined && date === line.date;
    byId.set(key, isSame ? { ...line, records } : line);
  }
  const place = ({ kind, source, date, id }: StoredLine): string =>
    `${kind}\n${source}\n${date ?? ''}\n${id}`;
  return [...byId.values()].toSorted((a, b) => (place(a) < place(b) ? -1 : 1));
}

export function noteLines(lines: readonly StoredLine[], path: URL = storePath): void {
  const newer = lines.map((line) => lineSchema.parse(line));
  const all = merged(allLines(path), newer);
  writeOutput(path, all.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

/** When the first of a run's records was written. */
export function dateOf(records: readonly SmallRecord[]): string | null {
  const wall = records.find((record) => record.wall !== undefined)?.wall;
  return wall === undefined ? null : new Date(wall).toISOString();
}

/** Versions that results may hang on, of all that a run recorded. */
export function versionsOf(recorded: Readonly<Record<string, string>>): Record<string, string> {
  const { kubernetes, forcedetach } = recorded;
  const server = /\d+\.\d+\.\d+/.exec(recorded[stockDatabaseName] ?? '')?.[0];
  return {
    ...(kubernetes && { kubernetes }),
    ...(server && { [stockDatabaseName]: server }),
    ...(forcedetach && { forcedetach }),
  };
}

/** Timers: they say how long a run waits and what it keeps, not what is done to whom. */
export const timing: readonly string[] = [
  ...[
    'timers.grace',
    'timers.toleration',
    'timers.forceDetachAfter',
    'remedy.at',
    'disk.keepWrites',
  ],
  ...['watch.overlap', 'watch.horizon', 'watch.converge'],
];
/** How the clients were run: no race is another one for it, and a finding counts stock ones only. */
const clientTiming: readonly string[] = ['watch.warmup', 'watch.patience'];
/** Names, what a run is held against, and whose disk it plays: no part of what is done. */
const indifferentNames: readonly string[] = [
  ...['name', 'question', 'expected', 'expectedServing', 'counted', 'diskFrom'],
];
/** Fields that say nothing of what is done to whom. */
export const notDone: ReadonlySet<string> = new Set([
  ...[...timing, ...clientTiming, ...indifferentNames],
]);

const scalar = z.union([z.string(), z.number(), z.boolean()]);
type Value = z.output<typeof scalar> | Readonly<Record<string, boolean>>;

/** Lines of earlier versions have flat names. */
const byPath = (found: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> =>
  Object.fromEntries(
    Object.entries(found).map(
      ([name, value]) => (earlierField(name, value) ?? [name, value]) as [string, Value],
    ),
  );

/** What pages show of single runs, beside their verdict. */
const shownSchema = z.strictObject({
  asExpected: z.boolean(),
  noticed: z.enum(['loud', 'silent']).nullable(),
  /** Longest time without a commit that an outside client got. Absent where it was not recorded. */
  downtimeMs: z.number().nullable().optional(),
  /** How long two could write, and what each wrote meanwhile. */
  exposureMs: z.number(),
  bytesVictim: z.number(),
  bytesSuccessor: z.number(),
  /** Undefined where nothing counts what is written (shared directories). */
  blocksBoth: z.number().optional(),
  /** Acknowledged commits missing from the copy before the heal, and from the one after it. */
  lostBeforeHeal: z.number().optional(),
  lostAfterHeal: z.number().optional(),
});
export type EventDetails = Readonly<z.output<typeof shownSchema>>;

/** Runs: a scenario, and what it came to. Histories of hundreds of runs are too large for git. */
export const runSchema = lineSchema.extend({
  kind: z.literal('run'),
  /** `eventOf` distinguishes lines of one fault event from those of another batch. */
  event: z.string(),
  /** Fields that are not stock, by their paths; names, questions and expectations left out. */
  scenario: z
    .record(z.string(), z.union([scalar, z.record(z.string(), z.boolean())]))
    .transform(byPath),
  seed: z.string(),
  outcome: z.strictObject({
    verdict: z.enum(verdictWords),
    /** Whether a database served after the heal; null where an older run does not record it. */
    served: z.boolean().nullable(),
    acked: z.number().int(),
    /** Null where no copy of the volume could tell. */
    lost: z.number().int().nullable(),
    /** Seconds after the fault; null: none before the heal. */
    secondMountS: z.number().nullable(),
    shown: shownSchema.optional(),
  }),
  basis: measuredBasis,
  machine: lineSchema.shape.machine.unwrap(),
  versions: z.object({ kubernetes: z.string() }).catchall(z.string()),
});
export type RunLine = Readonly<z.output<typeof runSchema>>;

export const readRuns = (): readonly RunLine[] => linesOf(runSchema);

/**
 * Lines with the same one are volumes under one fault event. Cells of another batch, or of the same one
 * run again, have the same names; what broke one node at one moment was begun at one moment.
 */
export const eventOf = ({ source, event, date }: RunLine): string =>
  [source, date ?? '', event].join('\n');

const about = { name: 'fault-event', question: '?', expected: ['safe'] };

/** Fields of a recorded scenario that are not stock. */
export function changedSettings(recorded: object): RunLine['scenario'] {
  const whole = recordedScenario(recorded);
  const stock = recordedScenario({
    ...about,
    fault: { kind: whole.fault.kind },
    kubernetes: { version: whole.kubernetes.version },
  });
  const changed = valuesIn(whole).filter(
    ([field, value]) => field === 'fault.kind' || !isDeepStrictEqual(value, valueAt(stock, field)),
  );
  return Object.fromEntries(changed) as RunLine['scenario'];
}

export const scenarioOfLine = ({
  scenario,
  versions,
}: Pick<RunLine, 'scenario' | 'versions'>): Scenario =>
  recordedScenario({
    ...about,
    ...settingsFrom([...Object.entries(scenario), ['kubernetes.version', versions.kubernetes]]),
  });

/** What does not decide an outcome or decides it coarsely. */
const indifferent: ReadonlySet<string> = new Set([
  ...notDone,
  ...['kubernetes.version', 'fault.rebootAt', 'workload.kind', 'also.at', 'also.for'],
]);

/** How fast clients write decides which symptom a race has; otherwise whether they write at all does. */
const load: readonly string[] = ['load.rate', 'load.connections'];

/** Names a cell of the table: any rate but none is as good as another. */
export function cellKey(scenario: Scenario): string {
  const decisive = entriesOf(scenario).filter(([field]) => !load.includes(field));
  return JSON.stringify([decisive, scenario.load.rate === 0 ? 'idle' : 'busy', kindsOf(scenario)]);
}

/** Names a race: the load counts, and so does whether timers were shortened. */
export function raceKey(scenario: Scenario): string {
  const timers = shortenedTimers(scenario).length > 0 ? 'shortened' : 'stock';
  return JSON.stringify([entriesOf(scenario), timers, kindsOf(scenario)]);
}

const entriesOf = (scenario: Scenario): (readonly [string, unknown])[] =>
  valuesIn(scenario).filter(([field]) => !indifferent.has(field));

const kindsOf = (scenario: Scenario): readonly string[] => [
  // OrderedReady or Parallel, Recreate or RollingUpdate: they differ in rollouts only.
  scenario.workload.kind.startsWith('deployment') ? 'Deployment' : 'StatefulSet',
  rebootOf(scenario),
  // Such a watch sees other outcomes.
  ...(situationOf(scenario).watchEnds === 'perhaps before it' ? ['short watch'] : []),
];

/** Back before the node is missed, at the forced detach, or later. */
function rebootOf({ fault, timers }: Scenario): string {
  if (fault.kind !== 'node-reboot') return 'none';
  if (fault.rebootAt === 'force-detach') return 'at the forced detach';
  return fault.rebootAt < timers.grace ? 'within' : 'after';
}

/** Since then one engine compares all witnesses: what was judged before is kept, and not counted. */
const thisJudgeSince = '2026-11-27';

export const ofThisJudge = ({ date }: Pick<RunLine, 'date'>): boolean =>
  date !== null && date >= thisJudgeSince;

/** Counts of each race by `raceKey`; a run without a verdict proves nothing. */
export function racesIn(lines: readonly RunLine[]): ReadonlyMap<string, Counts> {
  const races = lines
    .filter((line) => ofThisJudge(line) && line.outcome.verdict !== 'inconclusive')
    .map((line) => ({ line, scenario: scenarioOfLine(line) }))
    .filter(({ scenario }) => expectationOf(scenario).isRace);
  const byKey = Map.groupBy(races, ({ scenario }) => raceKey(scenario));
  return new Map([...byKey].map(([key, all]) => [key, countsOf(all.map(({ line }) => line))]));
}

/** Several volumes under one fault are one event, and the worst of them counts. */
export function countsOf(lines: readonly RunLine[]): Counts {
  const words = [...Map.groupBy(lines, eventOf).values()].map((volumes) =>
    worstWord(volumes.map(({ outcome }) => outcome.verdict)),
  );
  const counts = safetyLevels.map((level) => [level, words.filter((w) => w === level).length]);
  return Object.fromEntries(counts.filter(([, count]) => count !== 0)) as Counts;
}

let known: ReadonlyMap<string, Counts> | undefined;

/** What all fault events of this scenario came to before. */
export function countedOf(scenario: Scenario): Counts {
  known ??= racesIn(readRuns());
  return known.get(raceKey(scenario)) ?? {};
}

/** What a run of this scenario is held against: reasoning, or what was counted. */
export const expectationFor = (scenario: Scenario): Pick<Scenario, 'expected' | 'counted'> =>
  expectedOf(scenario, countedOf);

const grades = ['safe', 'exposed', 'damaged'] as const;

/** `lost` or `corrupt` is often a matter of which page was hit: for comparing, both are damage. */
export type Grade = (typeof grades)[number];

/** Undefined where nothing was concluded. */
export function gradeOf(word: VerdictWord): Grade | undefined {
  if (word === 'inconclusive') return undefined;
  return word === 'lost' || word === 'corrupt' ? 'damaged' : word;
}

/** Below zero where `a` is the better. */
export const compareGrades = (a: Grade, b: Grade): number => grades.indexOf(a) - grades.indexOf(b);

/** `inconclusive` only where nothing else is there. */
export const worstWord = (words: readonly VerdictWord[]): VerdictWord =>
  safetyLevels.findLast((level) => words.includes(level)) ?? 'inconclusive';
