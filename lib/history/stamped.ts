/** What every record that came at a time has. */
export interface Stamped {
  /** Monotonic milliseconds since the run began. */
  readonly t: number;
  /** Unix milliseconds; absent on operations, whose session record has it. */
  readonly wall?: number;
}
