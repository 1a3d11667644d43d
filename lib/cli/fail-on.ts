/** Which results fail a command: the flag `--fail-on`, and FORCEDETACH_FAIL_ON in a pipeline. */
import { InvalidArgumentError, Option } from 'commander';
import { exitCode, type ExitCode } from '../core/index.ts';
import type { Batch } from '../batch/index.ts';
import { safetyLevels } from '../scenario/index.ts';
import type { VerdictWord } from '../judge/index.ts';

/** What an exit code without the flag says about the expectation. */
export const outcomes = ['expected', 'unexpected', 'inconclusive', 'open'] as const;
export type Outcome = (typeof outcomes)[number];

const failing = ['unexpected', 'inconclusive', 'open'] as const satisfies readonly Outcome[];
/** The worse a word, the later. */
const damage = safetyLevels.filter((level) => level !== 'safe');
export const failWords = [...failing, ...damage];
export type FailWord = (typeof failWords)[number];

const isFailWord = (word: string): word is FailWord =>
  (failWords as readonly string[]).includes(word);

/** `lost,corrupt` or `never`, which is an empty list. Throws InvalidArgumentError. */
export function failOnFrom(text: string): readonly FailWord[] {
  const words = text.split(',').map((word) => word.trim());
  if (words.length === 1 && words[0] === 'never') return [];
  return words.map((word) => {
    if (isFailWord(word)) return word;
    throw new InvalidArgumentError(
      `There is no \`${word}\`. Give some of ${failWords.join(', ')}; or never.`,
    );
  });
}

export const failOnOption = (): Option =>
  new Option(
    '--fail-on <words>',
    `fail only on these results: ${failWords.join(', ')}; or never. A verdict also fails what is worse (${damage.join(', then ')}) and what is inconclusive (default: ${failing.join(',')})`,
  ).argParser(failOnFrom);

/**
 * The exit code of a result whose code is `code` without the flag. An error stays one. A word of damage
 * is a threshold: what is worse fails too. An inconclusive run does not rule it out.
 */
export function exitCodeUnder(
  failOn: readonly FailWord[] | undefined,
  code: ExitCode,
  verdicts: readonly VerdictWord[],
): ExitCode {
  if (failOn === undefined || code === exitCode.usage || code === exitCode.infrastructure) {
    return code;
  }
  const mildest = damage.findIndex((word) => failOn.includes(word));
  const guarded = mildest === -1 ? [] : damage.slice(mildest);
  if (guarded.some((word) => verdicts.includes(word))) return exitCode.unexpected;
  if (failing.some((word) => failOn.includes(word) && exitCode[word] === code)) return code;
  const provesNothing = code === exitCode.inconclusive || verdicts.includes('inconclusive');
  return guarded.length > 0 && provesNothing ? exitCode.inconclusive : exitCode.expected;
}

/** Every verdict that a fault event of a cell came to, and `inconclusive` if a cell or the batch is. */
export function verdictsIn({ cells, checks, verdict }: Batch): VerdictWord[] {
  const concluded = [...cells.flatMap(({ verdicts }) => Object.entries(verdicts))]
    .filter(([word, count]) => count > 0 && word !== 'inconclusive')
    .map(([word]) => word as VerdictWord);
  const alone = checks.map((check) => check.verdict).filter((word) => word !== 'inconclusive');
  const whole = verdict === 'inconclusive' ? [verdict] : [];
  return [...concluded, ...alone, ...whole, ...cells.map((cell) => cell.verdict)];
}
