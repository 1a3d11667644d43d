/** The factors of a schedule: the fields that a sweep draws, in the order in which they are drawn. */
import { fields } from '../experiment/fields.ts';
import { fieldNames, type FieldName } from '../experiment/places.ts';
import type { Field } from '../fields/field.ts';
import type { Swept } from '../fields/swept.ts';
import type { Draws } from './draws.ts';

export interface Factor extends Pick<Swept, 'isAsked' | 'asksNoRow'> {
  readonly field: FieldName;
  readonly draw: (draws: Draws) => unknown;
}

/** Schedules are written down by seed and number, and these came first, and that last, from the first of them on. */
const first: readonly FieldName[] = ['fault', 'remedy', 'remedyAt', 'disk', 'link'];
const last: FieldName = 'serverKills';
const rest = fieldNames.filter((field) => !first.includes(field) && field !== last);

export const factors: readonly Factor[] = [...first, ...rest, last].flatMap((field) => {
  const { swept, stock }: Field = fields[field];
  if (swept === undefined) return [];
  const { share, draw, ...traits } = swept;
  if (share === undefined) return [{ field, draw, ...traits }];
  return [{ field, draw: (draws) => (draws.chance(share) ? draw(draws) : stock), ...traits }];
});
