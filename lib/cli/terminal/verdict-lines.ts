/** The last lines of a run on the terminal: the verdict, what it found, what is missing, the report. */
import { styleText } from 'node:util';
import type { Counts } from '../../scenario/index.ts';
import type { VerdictWord } from '../../judge/index.ts';
import type { AnyVerdict, Judged } from '../library/tested.ts';
import { plainText } from '../../core/index.ts';
import { missingInRun } from './missing-evidence.ts';
import { basisLabel, expectedInRun, openWords } from '../../report/index.ts';

const colours = {
  safe: 'green',
  exposed: 'yellow',
  lost: 'red',
  corrupt: 'red',
  inconclusive: 'magenta',
} as const satisfies Readonly<Record<VerdictWord, string>>;

/**
 * Three lines, and more where evidence is missing. The word is coloured where `stream` is a terminal and NO_COLOR does not forbid it;
 * without a stream it is not.
 */
export function verdictLines(
  { verdict, headline }: Pick<Judged, 'verdict' | 'headline'>,
  report: string,
  stream?: NodeJS.WriteStream,
): string {
  const word = verdict.verdict.toUpperCase();
  const shown =
    stream === undefined ? word : styleText(['bold', colours[verdict.verdict]], word, { stream });
  return [
    `${shown} (${heldAgainst(verdict)}) — ${basisLabel(verdict)}`,
    plainText(headline),
    ...missingInRun(verdict).map(plainText),
    `Report: ${plainText(report)}`,
  ].join('\n');
}

function heldAgainst(verdict: AnyVerdict): string {
  if (verdict.verdict === 'inconclusive') return `expected ${verdict.expected.join(' or ')}`;
  const counted = verdict.scenario['counted'] as Counts | undefined;
  if ('open' in verdict && verdict.open === true) return openWords(counted);
  if (!verdict.asExpected) return `expected ${expectedInRun(verdict)}`;
  return counted === undefined ? 'as expected' : `as expected: ${expectedInRun(verdict)}`;
}
