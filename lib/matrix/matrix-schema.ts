/** What a matrix file may say: axes over the scenario's fields, and how often each cell runs. */
import { z } from 'zod';
import { parseDurationMs } from '../durations.ts';
import { scenarioSchema, type ScenarioInput } from '../experiment/scenario.ts';

/** A cell's name, question and expected verdicts follow from the matrix; no file is a certificate. */
const derived = ['name', 'question', 'expected', 'expectedServing', 'counted', 'diskFrom'];

/** Scenario fields that a matrix file may set. */
export const settableFields = Object.keys(scenarioSchema.shape).filter(
  (field) => !derived.includes(field),
);

const fieldSchemas: Readonly<Record<string, z.ZodType>> = scenarioSchema.shape;

/** Without its default, which is the scenario's to fill in; `30s` is as good as 30000. */
function settable(field: string): z.ZodType {
  const whole = fieldSchemas[field] ?? z.never();
  const schema = whole instanceof z.ZodDefault ? (whole.unwrap() as z.ZodType) : whole;
  if (!/(Ms|At)$/.test(field)) return schema;
  const toMs = (value: unknown): unknown =>
    typeof value === 'string' ? (parseDurationMs(value) ?? value) : value;
  return z.preprocess(toMs, schema);
}

/** Any of a scenario's fields but what is derived from its matrix. */
export const settingsSchema = z.strictObject(
  Object.fromEntries(settableFields.map((field) => [field, settable(field).optional()])),
) as unknown as z.ZodType<Settings>;

/** Fields of a scenario, in milliseconds where they are times. */
export type Settings = Readonly<
  Partial<
    Omit<
      ScenarioInput,
      'name' | 'question' | 'expected' | 'expectedServing' | 'counted' | 'diskFrom'
    >
  >
>;

const scalar = z.union([z.string(), z.number(), z.boolean()]);
type Scalar = z.output<typeof scalar>;

/** One value of an axis: how the report names it, and what it sets. */
export interface AxisValue {
  readonly label: string;
  readonly settings: Settings;
}

export interface Axis {
  readonly name: string;
  readonly values: readonly AxisValue[];
}

/** A list under a field's name, or named settings under a name of its own. */
const axesSchema = z
  .record(
    z.string().regex(/^[a-zA-Z][a-zA-Z0-9-]*$/),
    z.union([z.array(scalar).min(1), z.record(z.string().min(1), settingsSchema)], {
      error: 'a list of values, or a map of named settings',
    }),
  )
  .transform((axes, context) =>
    Object.entries(axes).map(([name, values]): Axis => {
      const isField = settableFields.includes(name);
      if (Array.isArray(values) !== isField) {
        const message = isField
          ? 'is a field of the scenario: give a list of its values'
          : 'is no field of the scenario (see docs/reference/scenarios.md): give a map of named settings';
        context.addIssue({ code: 'custom', path: [name], message });
        return { name, values: [] };
      }
      if (!Array.isArray(values)) return { name, values: namedValues(values) };
      return { name, values: fieldValues(name, values, context) };
    }),
  );

const namedValues = (values: Readonly<Record<string, Settings>>): AxisValue[] =>
  Object.entries(values).map(([label, settings]) => ({ label, settings }));

function fieldValues(
  field: string,
  values: readonly Scalar[],
  context: z.RefinementCtx,
): AxisValue[] {
  return values.map((value, index) => {
    const parsed = settable(field).safeParse(value);
    for (const { message, path } of parsed.error?.issues ?? []) {
      context.addIssue({ code: 'custom', path: [field, index, ...path], message });
    }
    if (values.indexOf(value) !== index) {
      context.addIssue({ code: 'custom', path: [field, index], message: 'stands here twice' });
    }
    return { label: String(value), settings: { [field]: parsed.data } };
  });
}

/** Axis → its labels that are meant; it means the cells that all of them fit. */
const placesSchema = z.record(
  z.string(),
  z.union([scalar, z.array(scalar)]).transform((value) => [value].flat().map(String)),
);

const repeats = z.number().int().min(1).max(1000);

/** How often such cells run: more often where the outcome is a race. */
const repeatsOfSchema = z
  .strictObject({
    cells: placesSchema,
    repeats,
    /** Of the repeats, so many have the machine to themselves. */
    alone: z.number().int().nonnegative().default(0),
  })
  .refine((rule) => rule.alone <= rule.repeats, {
    path: ['alone'],
    error: 'is more than `repeats`',
  });

/** Commits per second and client beyond which a cell disturbs its neighbours. */
export const calmRate = 25;

export const isLoud = (rate: unknown): boolean =>
  rate === 'max' || (typeof rate === 'number' && rate > calmRate);

export const matrixSchema = z.strictObject({
  /** Kebab-case; names the batch's folder. */
  name: z.string().regex(/^[a-z0-9-]+$/, 'lower-case letters, digits and dashes'),
  /** What the batch asks, in one sentence. */
  question: z.string().min(1),
  /** Draws order and chance. Default: drawn at random and recorded. */
  seed: z.string().min(1).optional(),
  /** What all cells share. */
  base: settingsSchema.default({}).refine(({ rate }) => !isLoud(rate), {
    path: ['rate'],
    error: `beyond ${calmRate} commits/s a cell disturbs its neighbours: make \`rate\` an axis`,
  }),
  axes: axesSchema,
  exclude: z.array(placesSchema).default([]),
  /** Cells outside the grid: what they set on top of `base`. */
  include: z.array(settingsSchema).default([]),
  /** Fault events of each cell, each with a seed of its own. */
  repeats: repeats.default(1),
  /** Other numbers for some cells of the grid; the first rule that fits a cell holds. */
  repeatsOf: z.array(repeatsOfSchema).default([]),
  /** Share of the cells that run once more, alone; those of which some repeats do anyway are left out. */
  rerunAlone: z.number().min(0.1).max(1).default(0.1),
  /** A cell whose machine did not keep time is tried so often. */
  attempts: z.number().int().min(1).max(5).default(3),
});

export type Matrix = z.output<typeof matrixSchema>;
