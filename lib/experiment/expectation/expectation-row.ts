/** One reason why a verdict is no surprise. */
import type { Situation } from './situation.ts';
import type { VerdictWord } from '../verdict/verdict.ts';

export interface Row {
  /** Each factor named has one of these values. */
  readonly when: { readonly [F in keyof Situation]?: readonly Situation[F][] };
  /** All that it can come to. */
  readonly verdicts: readonly VerdictWord[];
  readonly because: string;
}

/** Two nodes could write, and did: what it came to differs. */
export const overlapping = ['exposed', 'lost', 'corrupt'] as const;
