/** The last line of a run on the terminal. */
import { basisLabel, expectedWords } from '../report/wording.ts';
import type { Verdict } from '../experiment/verdict.ts';

/** `LOST (not expected) — sentence [measured] → report`. */
export function verdictLine(verdict: Verdict, report: string): string {
  const expected = verdict.asExpected
    ? 'as expected'
    : `expected ${expectedWords(verdict.expected, verdict.serving.expected)}`;
  const word = verdict.verdict.toUpperCase();
  return `${word} (${expected}) — ${verdict.sentence} [${basisLabel(verdict)}] → ${report}`;
}
