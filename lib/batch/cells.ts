/** From a matrix to its cells: every combination of the axes once, each a whole scenario. */
import { UsageError } from '../core/index.ts';
import { expectationFor } from './expectations/races.ts';
import { expectationOf } from '../judge/index.ts';
import {
  askedScenario,
  type Scenario,
  fieldOf,
  groups,
  settingsUnder,
  type Settings,
} from '../scenario/index.ts';
import type { AxisValue, Matrix } from './matrix-schema.ts';
import { placeInWords } from './place.ts';

export interface Cell {
  /** Unique in the batch and fit for a folder's name. */
  readonly id: string;
  /** Axis → label; empty for a cell outside the grid. */
  readonly place: Readonly<Record<string, string>>;
  /** For people: `remedy force-delete, disk fenced`. */
  readonly label: string;
  readonly scenario: Scenario;
  /** Why its verdicts are expected. */
  readonly because: string;
}

/** What a cell is held against; default: reasoning, or what was counted. */
type Expecting = (scenario: Scenario) => Pick<Scenario, 'expected' | 'counted'>;

interface Draft {
  readonly place: Readonly<Record<string, string>>;
  readonly label: string;
  readonly settings: Settings;
  /** Fields that two axes set, each in a sentence. */
  readonly saidTwice?: readonly string[];
}

/** Days on any machine; a slip of the pen makes millions. */
const mostCells = 10_000;

/** In the order of the file. Throws UsageError `MATRIX_EMPTY`, `MATRIX_TOO_LARGE` or `MATRIX_CONTRADICTS`. */
export function cellsOf(matrix: Matrix, expected: Expecting = expectationFor): Cell[] {
  refuseUnknownPlaces(matrix);
  refuseTooLarge(matrix);
  const drafts = [...gridOf(matrix), ...matrix.include.map(outsideGrid)];
  if (drafts.length === 0) {
    throw new UsageError('MATRIX_EMPTY', `${matrix.name} has no cells`, {
      hint: 'give axes, or cells under `include`; check that `exclude` does not remove all',
    });
  }
  const complaints: string[] = [];
  const cells = drafts.flatMap((draft, index) => {
    const { label, saidTwice = [] } = draft;
    complaints.push(...saidTwice.map((what) => `${label}: ${what}`));
    if (saidTwice.length > 0) return [];
    try {
      return [cellOf(matrix, draft, { index, expected })];
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      complaints.push(`${label}: ${error.message}`);
      return [];
    }
  });
  if (complaints.length === 0) return cells;
  const shown = complaints.slice(0, 5).join('\n');
  const more = complaints.length > 5 ? `\n… and ${complaints.length - 5} more` : '';
  throw new UsageError('MATRIX_CONTRADICTS', `some cells contradict themselves:\n${shown}${more}`, {
    hint: 'remove such combinations with `exclude`, or correct `base`',
  });
}

/** Counted before anything of it is made. */
function refuseTooLarge({ name, axes, include, repeats }: Matrix): void {
  const grid = axes.reduce((product, { values }) => product * values.length, 1);
  const count = (axes.length === 0 ? 0 : grid) + include.length;
  if (count * repeats <= mostCells) return;
  const what = `${name} has ${count} cells, ${count * repeats} runs`;
  throw new UsageError('MATRIX_TOO_LARGE', `${what}: more than ${mostCells}`, {
    hint: 'give fewer axes or values; cells that `exclude` removes count too',
  });
}

function gridOf({ axes, exclude }: Matrix): Draft[] {
  if (axes.length === 0) return [];
  let places: readonly (readonly (readonly [string, AxisValue])[])[] = [[]];
  for (const { name, values } of axes) {
    places = places.flatMap((place) => values.map((value) => [...place, [name, value] as const]));
  }
  return places
    .map((values): Draft => {
      const place = Object.fromEntries(values.map(([axis, { label }]) => [axis, label]));
      const settings = Object.assign({}, ...values.map(([, each]) => each.settings)) as Settings;
      return { place, label: placeInWords(place), settings, saidTwice: saidTwiceIn(values) };
    })
    .filter(({ place }) => !exclude.some((rule) => fitsPlace(rule, place)));
}

/** Two axes that set one field: none goes before the other. */
function saidTwiceIn(values: readonly (readonly [string, AxisValue])[]): string[] {
  const byField = Map.groupBy(
    values.flatMap(([axis, { settings }]) =>
      Object.keys(settings).map((field) => ({ axis, field })),
    ),
    ({ field }) => field,
  );
  return [...byField]
    .filter(([, said]) => said.length > 1)
    .map(
      ([field, said]) =>
        `${placeOf(field)} is set by ${said.map(({ axis }) => axis).join(' and by ')}`,
    );
}

type Places = Readonly<Record<string, readonly string[]>>;

/** Does a cell lie where the rule says, on each axis that it names? */
export const fitsPlace = (rule: Places, place: Readonly<Record<string, string>>): boolean =>
  Object.entries(rule).every(([axis, labels]) => labels.includes(place[axis] ?? ''));

function outsideGrid(settings: Settings): Draft {
  const texts = Object.entries(settings).map(
    ([field, value]) => [placeOf(field), textOf(field, value)] as const,
  );
  return { place: {}, label: placeInWords(Object.fromEntries(texts)), settings };
}

const textOf = (field: string, value: unknown): string => fieldOf(field)?.show(value) ?? '';

/** `timers.grace`; of a group's own kind the group's name. */
const placeOf = (field: string): string =>
  groups.has(field) ? field : (fieldOf(field)?.at ?? field);

/** A rule that can never fit is a slip of the pen: it would let a cell run that was not meant to. */
function refuseUnknownPlaces(matrix: Matrix): void {
  for (const [index, rule] of matrix.exclude.entries()) {
    refuseUnknownPlace(matrix, rule, `exclude.${index}`);
  }
  for (const key of ['repeatsOf', 'expectOf'] as const) {
    for (const [index, { cells }] of matrix[key].entries()) {
      refuseUnknownPlace(matrix, cells, `${key}.${index}.cells`);
    }
  }
}

function refuseUnknownPlace({ axes }: Matrix, rule: Places, path: string): void {
  for (const [name, labels] of Object.entries(rule)) {
    const axis = axes.find((each) => each.name === name);
    const unknown = labels.find((label) => axis?.values.every((value) => value.label !== label));
    if (axis !== undefined && unknown === undefined) continue;
    const what = axis === undefined ? 'no such axis' : `no such value: ${unknown}`;
    throw new UsageError('MATRIX_INVALID', `${path}.${name}: ${what}`, {
      hint: `the axes are ${axes.map((each) => each.name).join(', ')}`,
    });
  }
}

function cellOf(
  matrix: Matrix,
  draft: Draft,
  { index, expected }: { readonly index: number; readonly expected: Expecting },
): Cell {
  const { name, question, base } = matrix;
  const { place, label, settings } = draft;
  const about = { name, question: `${question} (${label})`, expected: ['safe' as const] };
  const scenario = askedScenario(settingsUnder(base, settings), about);
  const written = writtenExpectation(matrix, place);
  const values =
    Object.keys(place).length > 0
      ? Object.values(place)
      : Object.entries(settings).map(([field, value]) => textOf(field, value));
  const slug = values
    .join('-')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 60);
  return {
    id: `${String(index + 1).padStart(2, '0')}-${slug}`,
    place,
    label,
    scenario: { ...scenario, ...(written ?? expected(scenario)) },
    because: written === undefined ? expectationOf(scenario).because : 'the matrix file says so',
  };
}

/** A cell outside the grid has no place that a rule could fit. */
function writtenExpectation({ expect, expectOf }: Matrix, place: Cell['place']): Matrix['expect'] {
  const inGrid = Object.keys(place).length > 0;
  const rule = inGrid ? expectOf.find(({ cells }) => fitsPlace(cells, place)) : undefined;
  return rule?.expect ?? expect;
}
