/** Numbers as people read them, and one figure of many. */

/** With thousands separators: 20982 → `20,982`. */
export const countInWords = (n: number): string => n.toLocaleString('en-US');

/** `1 row`, `2 rows`. */
export const plural = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`;

/** The lower middle of an even number; undefined of none. */
export const medianOf = (values: readonly number[]): number | undefined =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)];

export const sumOf = (values: readonly number[]): number =>
  values.reduce((sum, each) => sum + each, 0);

/** NaN of none. */
export const meanOf = (values: readonly number[]): number => sumOf(values) / values.length;
