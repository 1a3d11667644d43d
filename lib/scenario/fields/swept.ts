/** How a sweep draws a field of a schedule, as its owner says. Nothing here knows which values do harm. */

/** Chance, as a sweep has it. */
export interface Dice {
  /** True so often. */
  chance(share: number): boolean;
  pick<T>(values: readonly T[]): T;
  /** Uniform, both ends included. */
  int(from: number, to: number): number;
}

export interface Swept<Value = unknown> {
  readonly draw: (dice: Dice) => Value;
  /** So often it is drawn, else it has its default: so few things happen at once. Default: always. */
  readonly share?: number;
  /** Every schedule draws it: its question. Default: one that draws extras. */
  readonly isAsked?: true;
  /** With another value than the default the schedule asks no row of the outcome matrix. */
  readonly asksNoRow?: true;
}

/** Milliseconds, to a tenth of a second. */
export const secondsWithin =
  (fromS: number, toS: number) =>
  (dice: Dice): number =>
    dice.int(fromS * 10, toS * 10) * 100;

/** So often an event, else a time. */
export const eventOr =
  <const Event extends string>(
    share: number,
    events: readonly Event[],
    time: (dice: Dice) => number,
  ) =>
  (dice: Dice): Event | number =>
    dice.chance(share) ? dice.pick(events) : time(dice);

export const oneOf =
  <const T>(values: readonly T[]) =>
  (dice: Dice): T =>
    dice.pick(values);
