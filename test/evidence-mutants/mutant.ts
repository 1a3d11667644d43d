/** What a mutant of the evidence is: a real history, what is altered in it, and what is then right. */
import type { VerdictWord } from '../../lib/judge/verdict/verdict.ts';
import type { BaseName } from './bases.ts';
import type { HeldRun } from './held-run.ts';

export interface EvidenceMutant {
  /** Kebab-case; it says what is altered. */
  readonly name: string;
  readonly base: BaseName;
  /** The words that are right of the altered history, from first principles. */
  readonly right: readonly VerdictWord[];
  /**
   * Alters the records, which are then written by the proper writer: as a blind or lying observer
   * would have left them.
   */
  readonly alter?: (run: HeldRun) => void;
  /** Alters files that are no segments, before the run lists them. `directory` is the history's. */
  readonly files?: (directory: string) => void;
  /** Alters the files of a written run instead: nothing is made again. */
  readonly damage?: (directory: string) => void;
}

/** Evidence is missing or contradicts itself. */
export const inconclusive = ['inconclusive'] as const;
/** Or it proves harm. */
export const orWorse = ['inconclusive', 'exposed', 'lost', 'corrupt'] as const;
