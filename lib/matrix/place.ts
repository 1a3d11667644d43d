/** Where a cell lies on the axes of its batch, in words. */
import type { Batch } from './batch.ts';

/** A label that has a comma of its own stands in quotes: in a list it would look like two. */
export const quoted = (label: string): string => (label.includes(',') ? `“${label}”` : label);

/** `case “cut off, force-delete”, storage fenced`. */
export const placeInWords = (place: Readonly<Record<string, string>>): string =>
  Object.entries(place)
    .map(([axis, label]) => `${axis} ${quoted(label)}`)
    .join(', ');

/** Batches that were written before labels were quoted read as those of today. */
export function relabelled(batch: Batch): Batch {
  const cells = batch.cells.map((cell) => ({
    ...cell,
    label: Object.keys(cell.place).length === 0 ? cell.label : placeInWords(cell.place),
  }));
  const labelOf = new Map(cells.map(({ id, label }) => [id, label]));
  const checks = batch.checks.map((check) => ({
    ...check,
    label: labelOf.get(check.cell) ?? check.label,
  }));
  return { ...batch, cells, checks };
}
