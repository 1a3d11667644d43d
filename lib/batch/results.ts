/**
 * What a batch has done so far, in `results.jsonl`: one line an attempt, only ever appended, each
 * on the disk before the next begins. A killed batch goes on from here.
 */
import { closeSync, existsSync, fsyncSync, openSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { EvidenceError, mebibyte, readInput, readText, sealOf } from '../core/index.ts';
import { pressureSchema, verdictSchema } from '../judge/index.ts';
import { migrateResult } from '../history/index.ts';
import type { CountedRun } from './seals.ts';

export const resultsFile = 'results.jsonl';
/** Beside it: the folders of the runs. */
export const cellsFolder = 'cells';
/** A thousand runs are one. */
const resultsBytes = 256 * mebibyte;

const outcomeSchema = z.object({
  ...verdictSchema.pick({ verdict: true, safety: true, asExpected: true, basis: true }).shape,
  ...verdictSchema.pick({ noticed: true, acked: true, lost: true }).shape,
  /** Unreadable, lost and missing told apart; null where this was not told, as in the next two. */
  missing: verdictSchema.shape.missing.nullable(),
  /** Commits before the fault, and how many are gone. Absent where this was not told, or no copy can tell. */
  beforeFault: verdictSchema.shape.loss.unwrap().shape.beforeFault.optional(),
  downtimeMs: z.number().nullable(),
  /** After the heal. */
  served: z.boolean().nullable(),
  exposureMs: z.number(),
  /** Seconds after the fault; null where none came. */
  secondMountS: z.number().nullable(),
  ...verdictSchema.pick({ sentence: true, incompleteBecause: true }).shape,
  /** A timer fired so late that the run's own timing can't be trusted. */
  starved: z.boolean(),
  worstTimerLagMs: z.number(),
  /** Sum of all lags of a timer that is set once a second, as a share of the time. */
  timerDistortion: z.number(),
  /** How busy the machine was from the fault to the second image. */
  pressure: pressureSchema.nullable(),
  /** SHA-256 of its verdict.json. Absent before 2026-11-27. */
  verdictSha256: z.string().optional(),
});
/** What a batch keeps of one run's verdict. */
export type RunOutcome = Readonly<z.output<typeof outcomeSchema>>;

const headSchema = z.object({
  type: z.literal('batch'),
  schemaVersion: z.literal(1),
  name: z.string(),
  seed: z.string(),
  /** Its name; `isModel`: it predicts. */
  backend: z.string(),
  isModel: z.boolean(),
  /** Mark of the plan: another plan can't go on in this folder. */
  fingerprint: z.string(),
  startedAt: z.string(),
});
export type Head = z.output<typeof headSchema>;

const attemptSchema = z.object({
  type: z.literal('attempt'),
  trial: z.string(),
  /** From 1. */
  attempt: z.number().int(),
  /** Trials under one fault event are no independent ones. */
  event: z.string(),
  slot: z.string(),
  /** Nothing else ran meanwhile. */
  alone: z.boolean(),
  /** The run's folder, relative to the batch's. */
  folder: z.string(),
  startedAt: z.string(),
  durationMs: z.number(),
  /** Absent where the run came to no verdict; `error` says why. */
  outcome: outcomeSchema.optional(),
  error: z.string().optional(),
});
export type Attempt = z.output<typeof attemptSchema>;

export const countedIn = ({ folder, outcome }: Attempt): CountedRun => ({
  folder,
  verdictSha256: outcome?.verdictSha256,
});

const lineSchema = z.discriminatedUnion('type', [headSchema, attemptSchema]);

export interface Results {
  readonly head: Head;
  readonly attempts: readonly Attempt[];
}

/**
 * Undefined where no batch has begun. A last line that a kill cut short counts as not written.
 * Throws EvidenceError `RESULTS_BROKEN`.
 */
export function readResults(folder: string): Results | undefined {
  const path = join(folder, resultsFile);
  if (!existsSync(path)) return undefined;
  const text = readText(path, resultsBytes);
  const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
  const [head, ...attempts] = lines
    .map((line, index) => (line === '' ? undefined : parseLine(line, index + 1, path)))
    .filter((line) => line !== undefined);
  if (head === undefined) return undefined;
  if (head.type !== 'batch') throw broken(path, 1, 'the first line is no batch');
  return { head, attempts: attempts.filter((line) => line.type === 'attempt') };
}

function parseLine(line: string, number: number, path: string): z.output<typeof lineSchema> {
  try {
    const value: unknown = JSON.parse(line);
    const found = lineSchema.parse(migrateResult(value));
    // A line before 2026-11-27 has none.
    const { seal = sealOf(value as object) } = value as { readonly seal?: unknown };
    if (seal === sealOf(value as object)) return found;
    throw new Error('its seal does not fit');
  } catch (cause) {
    throw broken(path, number, 'it is no result', cause);
  }
}

const broken = (path: string, line: number, why: string, cause?: unknown): EvidenceError =>
  new EvidenceError('RESULTS_BROKEN', `cannot read ${path}:${line}: ${why}`, {
    hint: 'the file was changed by another program; start a new batch in another folder',
    cause,
  });

/** Appends to the results. A line that was cut short is taken away first. */
export class ResultsFile implements Disposable {
  readonly #file: number;

  constructor(folder: string) {
    const path = join(folder, resultsFile);
    if (existsSync(path)) {
      const bytes = readInput(path, resultsBytes);
      truncateSync(path, bytes.lastIndexOf('\n') + 1);
    }
    this.#file = openSync(path, 'a');
  }

  append(line: Head | Attempt): void {
    writeSync(this.#file, `${JSON.stringify({ ...line, seal: sealOf(line) })}\n`);
    fsyncSync(this.#file);
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}
