/**
 * docs/fault-events.jsonl: what real runs came to, one line a run. Histories of hundreds of runs are too
 * large for git; what expectations and their page are made from is here.
 */
import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { pressureSchema } from '../experiment/evidence/machine-time.ts';
import { writeOutput } from '../output-file.ts';
import { verdictWords, type Scenario } from '../experiment/scenario.ts';
import { recordedScenario } from '../history/migration.ts';
import { indifferentNames } from './scenario-key.ts';

const scalar = z.union([z.string(), z.number(), z.boolean()]);

/** What pages tell of single runs, beside their verdict. */
const shownSchema = z.strictObject({
  asExpected: z.boolean(),
  noticed: z.enum(['loud', 'silent']).nullable(),
  /** How long two could write, and what each wrote meanwhile. */
  exposureMs: z.number(),
  bytesVictim: z.number(),
  bytesSuccessor: z.number(),
  /** Undefined where nobody counts what is written (shared directories). */
  blocksBoth: z.number().optional(),
  /** Acknowledged commits missing from the copy before the heal, and from the one after it. */
  lostBeforeHeal: z.number().optional(),
  lostAfterHeal: z.number().optional(),
});
export type EventDetails = Readonly<z.output<typeof shownSchema>>;

const lineSchema = z.strictObject({
  /** The run's id; unique. */
  run: z.string(),
  /** Within its batch; `eventOf` tells lines of one fault event from those of another batch. */
  event: z.string(),
  /** Folder of the batch or run, or where else the line is from. */
  source: z.string(),
  /** ISO 8601; null where nobody wrote it down. */
  date: z.string().nullable(),
  /** Fields that are not stock; names, questions and expectations left out. */
  scenario: z.record(z.string(), z.union([scalar, z.record(z.string(), z.boolean())])),
  seed: z.string(),
  verdict: z.enum(verdictWords),
  /** Stock timers, or shortened ones. */
  basis: z.enum(['measured', 'shortened']),
  /** Whether somebody served after the heal; null where an older run does not tell. */
  served: z.boolean().nullable(),
  acked: z.number().int(),
  /** Null where no copy of the volume could tell. */
  lost: z.number().int().nullable(),
  /** Seconds after the fault; null: none before the heal. */
  secondMountS: z.number().nullable(),
  /** The run had the machine to itself, or others ran meanwhile; null where nobody wrote it down. */
  alone: z.boolean().nullable(),
  /** From the fault to the second image; null where nobody recorded it. */
  pressure: pressureSchema.nullable(),
  kubernetes: z.string(),
  /** Null where nobody wrote it down. */
  mysql: z.string().nullable(),
  /** Version and hash of the source. */
  harness: z.string().nullable(),
  /** The row of a page that shows the newest run of each kind: `disk-modes/unfenced`. */
  row: z.string().optional(),
  /** What such a row shows of the run. */
  shown: shownSchema.optional(),
});
export type EventLine = Readonly<z.output<typeof lineSchema>>;

export const storePath = new URL('../../docs/fault-events.jsonl', import.meta.url);

export function readStore(path: URL = storePath): readonly EventLine[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => lineSchema.parse(JSON.parse(line)));
}

/**
 * Lines with the same one are volumes under one fault event. Cells of another batch, or of the same one
 * run again, have the same names; what broke one node at one moment was begun at one moment.
 */
export const eventOf = ({ source, event, date }: EventLine): string =>
  [source, date ?? '', event].join('\n');

/** The newer of two lines of one run takes the place of the older. */
export function merged(older: readonly EventLine[], newer: readonly EventLine[]): EventLine[] {
  const byRun = new Map([...older, ...newer].map((line) => [line.run, line]));
  const place = ({ source, date, run }: EventLine): string => `${source}\n${date ?? ''}\n${run}`;
  return [...byRun.values()].toSorted((a, b) => (place(a) < place(b) ? -1 : 1));
}

export function writeStore(lines: readonly EventLine[], path: URL = storePath): void {
  writeOutput(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

/** Not part of what was done. */
const told = new Set(indifferentNames);

const about = { name: 'fault-event', question: '?', expected: ['safe'] };

/** Fields of a recorded scenario that are not stock. */
export function changedSettings(
  recorded: Readonly<Record<string, unknown>>,
): EventLine['scenario'] {
  const whole = recordedScenario(recorded);
  const stock = recordedScenario({ ...about, fault: whole.fault, kubernetes: whole.kubernetes });
  const changed = Object.entries(whole).filter(
    ([field, value]) =>
      field === 'fault' ||
      (field !== 'kubernetes' &&
        !told.has(field) &&
        JSON.stringify(value) !== JSON.stringify(stock[field as keyof Scenario])),
  );
  return Object.fromEntries(changed) as EventLine['scenario'];
}

export const scenarioOfLine = ({ scenario, kubernetes }: EventLine): Scenario =>
  recordedScenario({ ...about, ...scenario, kubernetes });
