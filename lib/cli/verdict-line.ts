/** The last line of a run on the terminal. */
import { basisLabel } from '../report/wording.ts';
import type { Verdict } from '../experiment/verdict.ts';

/** `LOST (not expected) — sentence [measured] → report`. */
export function verdictLine(verdict: Verdict, report: string): string {
  const expected = verdict.asExpected ? 'as expected' : `expected ${verdict.expected.join(' or ')}`;
  const word = verdict.verdict.toUpperCase();
  return `${word} (${expected}) — ${verdict.sentence} [${basisLabel(verdict)}] → ${report}`;
}
