/**
 * A forecast: what the model and the rule say of a matrix's cells before anybody has run them. Its
 * hash is over all of it, so that nothing in it can be mended afterwards.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { EvidenceError } from '../errors.ts';
import { readText } from '../input-file.ts';
import { verdictWords, type Scenario } from '../experiment/scenario.ts';

const intervalSchema = z.strictObject({
  from: z.number(),
  median: z.number(),
  to: z.number(),
});
/** Name of a quantity (figures.ts) → nine in ten lie within. */
const intervalsSchema = z.record(z.string(), intervalSchema);

const share = z.number().min(0).max(1);

const cellSchema = z.strictObject({
  /** Name of the cell in the batch. */
  id: z.string(),
  label: z.string(),
  /** Whole, but without what is expected of it. */
  scenario: z.record(z.string(), z.unknown()),
  model: z.strictObject({
    /** Word → share of the model's runs. */
    words: z.partialRecord(z.enum(verdictWords), share),
    intervals: intervalsSchema,
    /** Shares of the model's runs. */
    secondMount: share,
    served: share,
  }),
  rule: z.strictObject({ damage: z.boolean(), because: z.string() }),
});
export type ForecastCell = z.output<typeof cellSchema>;

const bodySchema = z.strictObject({
  schemaVersion: z.literal(1),
  /** The matrix's file. */
  matrix: z.string(),
  madeAt: z.iso.datetime(),
  modelVersion: z.string(),
  harness: z.string(),
  seed: z.string(),
  /** Number of the model's runs for each cell. */
  runs: z.number().int(),
  /** Whoever knows only how long things took in earlier real runs with these timers. */
  earlier: z.strictObject({ runs: z.number().int(), intervals: intervalsSchema }),
  cells: z.array(cellSchema).min(1),
});
export type ForecastBody = z.output<typeof bodySchema>;

const forecastSchema = bodySchema.extend({ sha256: z.string().regex(/^[0-9a-f]{64}$/) });
export type Forecast = z.output<typeof forecastSchema>;

/** What is expected of a scenario is no part of what happens. */
export function withoutExpectation(scenario: Scenario): Record<string, unknown> {
  const { expected: _, expectedServing: __, ...rest } = scenario;
  return rest;
}

/** Over the text that `sealed` writes, but for the hash. */
const hashOf = (body: unknown): string =>
  createHash('sha256').update(JSON.stringify(body)).digest('hex');

/** The text of a forecast's file. */
export const sealed = (body: ForecastBody): string =>
  `${JSON.stringify({ ...body, sha256: hashOf(body) }, undefined, 2)}\n`;

/** Throws EvidenceError `FORECAST_UNREADABLE` or `FORECAST_ALTERED`. */
export function readForecast(path: string): Forecast {
  const { sha256, ...body } = parse(path);
  if (sha256 !== hashOf(body)) {
    throw new EvidenceError(
      'FORECAST_ALTERED',
      `${path} is not what was forecast: its hash differs`,
      {
        hint: 'a forecast that was changed after it was made foretells nothing; take the committed one',
      },
    );
  }
  return { ...body, sha256 } as Forecast;
}

/** With its keys in the order of the file: the hash is over that. */
function parse(path: string): Record<string, unknown> {
  try {
    const read: unknown = JSON.parse(readText(path));
    forecastSchema.parse(read);
    return read as Record<string, unknown>;
  } catch (cause) {
    throw new EvidenceError('FORECAST_UNREADABLE', `${path} is no forecast`, {
      hint: 'npx zx experiments/forecast.mjs make MATRIX --out FILE makes one',
      cause,
    });
  }
}
