/**
 * data/measurements.jsonl: all that was measured, one line each, from which the pages are made. A line says
 * what was done, what came, and where that is from; what it says of the two in detail is its kind's.
 */
import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { stockDatabaseName, pressureSchema } from '../../judge/index.ts';
import type { SmallRecord } from '../../history/index.ts';
import { writeOutput } from '../../core/index.ts';

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
  /** Null where nobody wrote it down. */
  seed: z.string().nullable(),
  outcome: z.record(z.string(), z.unknown()),
  /** Null where nobody wrote it down. */
  basis: measuredBasis.nullable(),
  machine: z
    .strictObject({
      /** The run had it to itself, or others ran meanwhile; null where nobody wrote it down. */
      alone: z.boolean().nullable(),
      /** From the fault to the second image; null where nobody recorded it. */
      pressure: pressureSchema.nullable(),
    })
    .optional(),
  /** By the names of a run's setup record; what nobody wrote down is absent. */
  versions: z.record(z.string(), z.string()),
  /** Folder of the run or of its batch, or the command that made it. */
  source: z.string(),
  /** `COMMIT:FOLDER`, where git has the raw records; absent if they were never committed. */
  records: z
    .string()
    .regex(/^[0-9a-f]{40}:/)
    .optional(),
  /** ISO 8601, a day at least; null where nobody wrote it down. */
  date: z.string().nullable(),
});
export type StoredLine = Readonly<z.output<typeof lineSchema>>;

/** The lines of one kind. */
export type Kind<T> = z.ZodType<T> & {
  readonly shape: { readonly kind: { readonly value: string } };
};

export const storePath = new URL('../../../data/measurements.jsonl', import.meta.url);

/** None where there is no store. */
export const linesOf = <T>(kind: Kind<T>, path: URL = storePath): T[] =>
  textLines(path)
    .filter((text) => text.startsWith(`{"kind":"${kind.shape.kind.value}",`))
    .map((text) => kind.parse(JSON.parse(text)));

export const allLines = (path: URL = storePath): StoredLine[] =>
  textLines(path).map((text) => lineSchema.parse(JSON.parse(text)));

const textLines = (path: URL): string[] =>
  existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];

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
    ...(kubernetes === undefined ? {} : { kubernetes }),
    ...(server === undefined ? {} : { [stockDatabaseName]: server }),
    ...(forcedetach === undefined ? {} : { forcedetach }),
  };
}
