/** What a matrix file may say: axes over the scenario’s fields, how often each cell runs, and other settings for all cells. */
import { z } from 'zod';
import {
  safetyLevels,
  servingWords,
  type Scenario,
  type Settings,
  complainingIn,
  fieldAt,
  isMap,
  isOldName,
  oldKeysIn,
  readSettings,
  readValue,
  settingsFrom,
  settingsSchema,
  hintOnOldKeys,
  type Complain,
  goesWith,
  shortTimers,
  valuesIn,
  withValues,
} from '../scenario/index.ts';
import { parseYaml, readYaml, type FileKind, type OnHint, UsageError } from '../core/index.ts';

const scalar = z.union([z.string(), z.number(), z.boolean()]);

/** One value of an axis: how the report names it, and what it sets. */
export interface AxisValue {
  readonly label: string;
  readonly settings: Settings;
}

export interface Axis {
  readonly name: string;
  readonly values: readonly AxisValue[];
}

/** A list under a field's place, or named settings under a name of its own. */
const axesSchema = z
  .record(z.string().regex(/^[a-zA-Z][a-zA-Z0-9-]*(\.[a-zA-Z]+)?$/), z.unknown())
  .transform((axes, context) => {
    const complain = complainingIn(context);
    return Object.entries(axes).map(
      ([name, values]): Axis => ({ name, values: valuesOf(name, values, complain) }),
    );
  });

function valuesOf(name: string, values: unknown, complain: Complain): AxisValue[] {
  const field = fieldAt(name);
  if (field !== undefined && Array.isArray(values) && values.length > 0) {
    return values.map((value: unknown, index): AxisValue => {
      const path = [name, index];
      if (values.indexOf(value) !== index) complain(path, 'stands here twice');
      const read = readValue(field, value, { path, isOld: isOldName(name), complain });
      const settings = settingsFrom(read === undefined ? [] : [[field, read]]);
      return { label: scalar.safeParse(value).success ? String(value) : '', settings };
    });
  }
  if (field === undefined && isMap(values)) {
    return Object.entries(values).map(([label, written]) => ({
      label,
      settings: readSettings(written, (path, message) => complain([name, label, ...path], message)),
    }));
  }
  complain(
    [name],
    field === undefined
      ? 'is no field of the scenario (see docs/reference/scenarios.md): give a map of named settings'
      : 'is a field of the scenario: give a list of its values',
  );
  return [];
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
    /** Number of repeats that have the machine to themselves. */
    alone: z.number().int().nonnegative().default(0),
  })
  .refine((rule) => rule.alone <= rule.repeats, {
    path: ['alone'],
    error: 'is more than `repeats`',
  });

/** Commits per second and client beyond which a cell disturbs its neighbours. */
const calmRate = 25;

export const isLoud = (rate: unknown): boolean =>
  rate === 'max' || (typeof rate === 'number' && rate > calmRate);

const expectHint = `give ${safetyLevels.join(', ')}, a list of them, or { safety, serving: ${servingWords.join(' | ')} }`;
const safetyWords = z
  .union([z.enum(safetyLevels), z.array(z.enum(safetyLevels)).min(1)], { error: expectHint })
  .transform((words) => [words].flat())
  .refine((words) => safetyLevels.some((level) => !words.includes(level)), {
    error: 'has every verdict, so it can never fail: leave one out',
  });

/** What a run must come to: both parts of an expectation, or the verdict alone. */
const expectSchema = z
  .union(
    [
      safetyWords,
      z.strictObject({ safety: safetyWords, serving: z.enum(servingWords).optional() }),
    ],
    { error: expectHint },
  )
  .transform((written): CellExpectation => {
    const { safety, serving } = Array.isArray(written) ? { safety: written } : written;
    return { expected: safety, ...(serving && { expectedServing: serving }) };
  });
type CellExpectation = Pick<Scenario, 'expected' | 'expectedServing'>;

export const matrixSchema = z.strictObject({
  /** Kebab-case; names the batch's folder. */
  name: z.string().regex(/^[a-z0-9-]+$/, 'lower-case letters, digits and dashes'),
  /** What the batch asks, in one sentence. */
  question: z.string().min(1),
  /** Draws order and chance. Default: drawn at random and recorded. */
  seed: z.string().min(1).optional(),
  /** What all cells share. */
  base: settingsSchema.default({}).refine(({ load: { rate } = {} }) => !isLoud(rate), {
    path: ['load', 'rate'],
    error: `beyond ${calmRate} commits/s a cell disturbs its neighbours: make \`load.rate\` an axis`,
  }),
  axes: axesSchema,
  exclude: z.array(placesSchema).default([]),
  /** Cells outside the grid: what they set on top of `base`. */
  include: z.array(settingsSchema).default([]),
  /** What every cell must come to. Default: what reasoning or counts say of its scenario. */
  expect: expectSchema.optional(),
  /** Other expectations for some cells of the grid; the first rule that fits a cell holds. */
  expectOf: z.array(z.strictObject({ cells: placesSchema, expect: expectSchema })).default([]),
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

interface WrittenMatrix {
  readonly base?: unknown;
  readonly axes?: Readonly<Record<string, object>>;
  readonly include?: readonly unknown[];
}

/** Keys of the form before the nested one. */
function oldKeysOf({ base, axes = {}, include = [] }: WrittenMatrix): string[] {
  const named = Object.values(axes).flatMap((values): unknown[] => Object.values(values));
  return [
    ...Object.keys(axes).filter(isOldName),
    ...[base, ...include, ...named].flatMap(oldKeysIn),
  ];
}

/** Errors name the line, the path and a hint. */
export const matrixFile: FileKind<Matrix> = {
  kind: 'matrix',
  schema: matrixSchema,
  hint: 'docs/reference/matrix.md has every key, docs/reference/scenarios.md every field',
  example: 'experiments/matrices/default.yaml',
  hintOn: (file) => hintOnOldKeys(oldKeysOf(file as WrittenMatrix)),
};

/** Throws UsageError `MATRIX_UNREADABLE` or `MATRIX_INVALID`. */
export const readMatrix = (path: string, onHint?: OnHint): Matrix =>
  readYaml(path, matrixFile, onHint);

/** `name` stands before each line number. Throws UsageError `MATRIX_INVALID`. */
export const parseMatrix = (text: string, name: string, onHint?: OnHint): Matrix =>
  parseYaml(text, name, matrixFile, onHint);

/**
 * A forced detach comes 55 s after the fault, and on two full cores the mount that follows it came
 * after 82 s: what has not come by the horizon was refused. Databases that came back did within 51 s.
 */
const short = {
  timers: shortTimers,
  watch: { horizon: 120_000, converge: 60_000 },
} satisfies Settings;

const shortened = Object.keys(shortTimers).map((name) => `timers.${name}`);

/** Fields that cells set for themselves, in the order of the file. */
const ownFields = ({ axes, include }: Matrix): string[] =>
  [...axes.flatMap(({ values }) => values.map(({ settings }) => settings)), ...include].flatMap(
    (settings) => valuesIn(settings).map(([field]) => field),
  );

/** Throws UsageError `MATRIX_HAS_VERSIONS` where cells differ in it. */
export function onKubernetes(matrix: Matrix, kubernetes: string): Matrix {
  if (!ownFields(matrix).includes('kubernetes.version')) {
    return {
      ...matrix,
      base: { ...matrix.base, kubernetes: { ...matrix.base.kubernetes, version: kubernetes } },
    };
  }
  throw new UsageError('MATRIX_HAS_VERSIONS', `the cells of ${matrix.name} differ in kubernetes`, {
    hint: 'omit --kubernetes, or select cells of one version with --only',
  });
}

/**
 * In minutes where stock timers take a quarter of an hour.
 * Throws UsageError `MATRIX_HAS_TIMERS` where cells differ in a timer that would be shortened, or in the horizon alone.
 */
export function shorten(matrix: Matrix): Matrix {
  // An axis of the horizon alone: its cells would all be the same, under labels that differ.
  const isOfHorizon = ({ values }: Axis): boolean =>
    values.every(
      ({ settings }) =>
        valuesIn(settings)
          .map(([field]) => field)
          .join() === 'watch.horizon',
    );
  const timer =
    ownFields(matrix).find((field) => shortened.includes(field)) ??
    (matrix.axes.some(isOfHorizon) ? 'watch.horizon' : undefined);
  if (timer !== undefined) {
    throw new UsageError('MATRIX_HAS_TIMERS', `the cells of ${matrix.name} differ in ${timer}`, {
      hint: 'omit --short, or set the timers in the file',
    });
  }
  // A wait that is switched off has no length; cells that switch it off drop it by themselves.
  const taken = valuesIn(short).filter(([field]) => goesWith(field, matrix.base));
  return {
    ...matrix,
    base: withValues(matrix.base, taken),
    axes: matrix.axes.map((axis) => ({
      ...axis,
      values: axis.values.map((value) => ({ ...value, settings: withoutHorizon(value.settings) })),
    })),
    include: matrix.include.map(withoutHorizon),
  };
}

const withoutHorizon = (settings: Settings): Settings =>
  settingsFrom(valuesIn(settings).filter(([field]) => field !== 'watch.horizon'));
