/** A line of a prediction: what was found, where, and how sure it is. */

/** `read`: looked up on this cluster. `inferred`: concluded. The others are words of data/drivers.yaml. */
export const howSure = [
  'read',
  'source',
  'documented',
  'reported',
  'not found',
  'inferred',
] as const;
export type HowSure = (typeof howSure)[number];

export interface Line {
  readonly what: string;
  readonly found: string;
  /** Where it was read, or on what it rests. */
  readonly source: string;
  readonly sure: HowSure;
}
