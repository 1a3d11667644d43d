/** From a matrix to its cells: every combination of the axes once, each a whole scenario. */
import { UsageError } from '../core/index.ts';
import { expectationOf } from '../judge/index.ts';
import {
  askedScenario,
  settingsUnder,
  combined,
  type FieldName,
  valuesIn,
  placeOf,
  fields,
  type Scenario,
  type Settings,
} from '../scenario/index.ts';
import type { AxisValue, Matrix } from './matrix.ts';
import { expectationFor } from './measurements.ts';

/** Axis → label, or the labels that are meant. */
type Place = Readonly<Record<string, string>>;
type Places = Readonly<Record<string, readonly string[]>>;

export interface Cell {
  /** Unique in the batch and fit for a folder's name. */
  readonly id: string;
  /** Empty for a cell outside the grid. */
  readonly place: Place;
  /** For people: `remedy force-delete, disk fenced`. */
  readonly label: string;
  readonly scenario: Scenario;
  /** Why its verdicts are expected. */
  readonly because: string;
}

/** A label that has a comma of its own stands in quotes: in a list it would look like two. */
export const quoted = (label: string): string => (label.includes(',') ? `“${label}”` : label);

/** `case “cut off, force-delete”, storage fenced`. */
export const placeInWords = (place: Place): string =>
  Object.entries(place)
    .map(([axis, label]) => `${axis} ${quoted(label)}`)
    .join(', ');

/** Does a cell of the grid lie where the rule says, on each axis that it names? */
export const fitsPlace = (rule: Places, place: Place): boolean =>
  Object.entries(rule).every(([axis, labels]) => labels.includes(place[axis] ?? ''));

/** The first rule that fits; none fits a cell outside the grid. */
export const ruleFor = <R extends { readonly cells: Places }>(
  rules: readonly R[],
  place: Place,
): R | undefined =>
  Object.keys(place).length === 0 ? undefined : rules.find(({ cells }) => fitsPlace(cells, place));

interface Draft {
  readonly place: Place;
  readonly label: string;
  readonly settings: Settings;
  /** Values of its axes, or of its fields. */
  readonly values: readonly string[];
  /** Fields that two axes set, each in a sentence. */
  readonly conflicts: readonly string[];
}

/** Days on any machine; a slip of the pen makes millions. */
const mostCells = 10_000;
const complaintsShown = 5;

/**
 * In the order of the file. `expected`: what a cell is held against; default: reasoning, or what was counted.
 * Throws UsageError `MATRIX_EMPTY`, `MATRIX_TOO_LARGE`, `MATRIX_INVALID` or `MATRIX_CONTRADICTS`.
 */
export function cellsOf(matrix: Matrix, expected = expectationFor): Cell[] {
  refuseUnknownPlaces(matrix);
  refuseTooLarge(matrix);
  const drafts = [...gridOf(matrix), ...matrix.include.map(outsideGrid)];
  if (drafts.length === 0) {
    throw new UsageError('MATRIX_EMPTY', `${matrix.name} has no cells`, {
      hint: 'give axes, or cells under `include`; check that `exclude` does not remove all',
    });
  }
  const complaints: string[] = [];
  const cells = drafts.flatMap((draft, index): Cell | [] => {
    const { label, conflicts, place } = draft;
    complaints.push(...conflicts.map((what) => `${label}: ${what}`));
    if (conflicts.length > 0) return [];
    try {
      const written = ruleFor(matrix.expectOf, place)?.expect ?? matrix.expect;
      const scenario = scenarioOf(matrix, draft);
      const because = written ? 'the matrix file says so' : expectationOf(scenario).because;
      const held = { ...scenario, ...(written ?? expected(scenario)) };
      return { id: idOf(draft, index), place, label, scenario: held, because };
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      complaints.push(`${label}: ${error.message}`);
      return [];
    }
  });
  if (complaints.length === 0) return cells;
  const more = complaints.length - complaintsShown;
  const shown = complaints.slice(0, complaintsShown).join('\n');
  const rest = more > 0 ? `\n… and ${more} more` : '';
  throw new UsageError('MATRIX_CONTRADICTS', `some cells contradict themselves:\n${shown}${rest}`, {
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
    .map((chosen): Draft => {
      const place = Object.fromEntries(chosen.map(([axis, { label }]) => [axis, label]));
      const settings = combined<Settings>({}, ...chosen.map(([, each]) => each.settings));
      const label = placeInWords(place);
      return {
        place,
        label,
        settings,
        values: Object.values(place),
        conflicts: conflictsIn(chosen),
      };
    })
    .filter(({ place }) => !exclude.some((rule) => fitsPlace(rule, place)));
}

/** Two axes that set one field: none goes before the other. */
function conflictsIn(chosen: readonly (readonly [string, AxisValue])[]): string[] {
  const axesByField = new Map<FieldName, string[]>();
  for (const [axis, { settings }] of chosen) {
    for (const [field] of valuesIn(settings)) {
      axesByField.set(field, [...(axesByField.get(field) ?? []), axis]);
    }
  }
  return [...axesByField]
    .filter(([, axes]) => axes.length > 1)
    .map(([field, axes]) => `${placeOf(field)} is set by ${axes.join(' and by ')}`);
}

function outsideGrid(settings: Settings): Draft {
  const texts = valuesIn(settings).map(
    ([field, value]) => [placeOf(field), fields[field].show(value)] as const,
  );
  const label = placeInWords(Object.fromEntries(texts));
  return { place: {}, label, settings, values: texts.map(([, text]) => text), conflicts: [] };
}

/** A rule that can never fit is a slip of the pen: it would let a cell run that was not meant to. */
function refuseUnknownPlaces({ axes, exclude, repeatsOf, expectOf }: Matrix): void {
  const rules = [
    ...exclude.map((rule, index) => ({ rule, path: `exclude.${index}` })),
    ...repeatsOf.map(({ cells }, index) => ({ rule: cells, path: `repeatsOf.${index}.cells` })),
    ...expectOf.map(({ cells }, index) => ({ rule: cells, path: `expectOf.${index}.cells` })),
  ];
  for (const { rule, path } of rules) {
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
}

function scenarioOf({ name, question, base }: Matrix, { label, settings }: Draft): Scenario {
  const about = { name, question: `${question} (${label})`, expected: ['safe' as const] };
  return askedScenario(settingsUnder(base, settings), about);
}

function idOf({ values }: Draft, index: number): string {
  const slug = values
    .join('-')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 60);
  return `${String(index + 1).padStart(2, '0')}-${slug}`;
}
