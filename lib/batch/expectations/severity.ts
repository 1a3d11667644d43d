/** Verdicts as grades that cells are compared by. */
import { safetyLevels } from '../../scenario/index.ts';
import type { VerdictWord } from '../../judge/index.ts';

/** `lost` or `corrupt` is often a matter of which page was hit: for comparing, both are damage. */
export type Grade = 'safe' | 'exposed' | 'damaged';

/** Undefined where nothing was concluded. */
export function gradeOf(word: VerdictWord): Grade | undefined {
  if (word === 'inconclusive') return undefined;
  return word === 'lost' || word === 'corrupt' ? 'damaged' : word;
}

const grades: readonly Grade[] = ['safe', 'exposed', 'damaged'];

/** Below zero where `a` is the better. */
export const compareGrades = (a: Grade, b: Grade): number => grades.indexOf(a) - grades.indexOf(b);

/** `inconclusive` only where nothing else is there. */
export function worstWord(words: readonly VerdictWord[]): VerdictWord {
  return safetyLevels.findLast((level) => words.includes(level)) ?? 'inconclusive';
}
