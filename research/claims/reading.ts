/** What a run's records say of a claim. */

export interface ClaimAnswer {
  /** Whether it is what `expected` says. */
  readonly asExpected: boolean;
  /** One or two sentences, with their numbers. */
  readonly said: string;
  /** The records that prove it, one line each. */
  readonly evidence: readonly string[];
}

/** A string says why these records cannot answer. */
export type ClaimReading = ClaimAnswer | string;
