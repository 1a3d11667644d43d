/** The last lines of a run or a batch on the terminal: the verdict, what it found, what is missing and what to do. */
import { join } from 'node:path';
import { styleText } from 'node:util';
import type { Batch } from '../../batch/index.ts';
import { plainText, plural } from '../../core/index.ts';
import { readVerdict, storedVerdict, type VerdictWord } from '../../judge/index.ts';
import { basisLabel, expectedInRun, openWords } from '../../report/index.ts';
import type { AnyVerdict, Judged } from '../library/run-plan.ts';

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
  const shown = stream ? styleText(['bold', colours[verdict.verdict]], word, { stream }) : word;
  return [
    `${shown} (${heldAgainst(verdict)}) — ${basisLabel(verdict)}`,
    plainText(headline),
    ...missingInRun(verdict).map(plainText),
    `Report: ${plainText(report)}`,
  ].join('\n');
}

function heldAgainst(verdict: AnyVerdict): string {
  if (verdict.verdict === 'inconclusive') return `expected ${verdict.expected.join(' or ')}`;
  const counted = verdict.scenario.counted;
  if ('open' in verdict && verdict.open === true) return openWords(counted);
  if (!verdict.asExpected) return `expected ${expectedInRun(verdict)}`;
  return counted === undefined ? 'as expected' : `as expected: ${expectedInRun(verdict)}`;
}

const shownReasons = 3;
const longestReason = 140;

/** Why a run proves nothing, each reason with what to do; no line where the evidence is complete. */
function missingInRun(verdict: AnyVerdict): string[] {
  const { reasons, replay } = verdict;
  if (reasons.length === 0) return [];
  const shown = reasons.slice(0, shownReasons);
  return [
    ...shown.flatMap(({ code, words }) => [`  - ${short(words)}`, `    ${toDo(code)}`]),
    ...moreLines(reasons.length - shown.length),
    `Then run it again: ${replay}`,
  ];
}

const toDos: Readonly<Record<string, string>> = {
  MACHINE_LATE: 'Stop other work on this machine, or use more cores.',
  CERTIFICATE_FAILED: 'The fault did not hold: check that nothing else heals it.',
  AUDIT_MACHINE_TROUBLE: 'Check the machine: npx forcedetach doctor',
};

const toDo = (code: string): string =>
  toDos[code] ?? 'If it happens again, see docs/how-to/troubleshooting.md.';

/** No line where the batch and all its cells came to a verdict. */
export function missingInBatch(batch: Batch, folder: string): string[] {
  const { cells, reasons: found = [], inconclusiveBecause, replay } = batch;
  const reasons = [
    ...cells
      .filter(({ verdict }) => verdict === 'inconclusive')
      .map(({ label, runs: [run] }) => ({
        why: `cell ${label}: ${short(whyIn(folder, run?.folder))}`,
        run: run?.folder ?? '',
      })),
    ...found.flatMap(({ words, fields: { folder: run } }) =>
      run === undefined ? [] : [{ why: short(words), run: String(run) }],
    ),
  ];
  const others = reasons.length === 0 ? inconclusiveBecause : [];
  if (reasons.length + others.length === 0) return [];
  const shown = reasons.slice(0, shownReasons);
  return [
    ...shown.flatMap(({ why, run }) => [`  - ${why}`, `    See ${join(folder, run)}`]),
    ...others.map((why) => `  - ${short(why)}`),
    ...moreLines(reasons.length - shown.length),
    ...(replay === undefined ? [] : [`Then run it again in a new folder: ${replay}`]),
  ];
}

/** The first reason of a cell's run. */
function whyIn(folder: string, run: string | undefined): string {
  const wanted = storedVerdict.pick({ incompleteBecause: true });
  const verdict = run === undefined ? undefined : readVerdict(join(folder, run), wanted);
  return verdict?.incompleteBecause[0] ?? 'its run failed';
}

const moreLines = (count: number): string[] =>
  count <= 0
    ? []
    : [`  - ${plural(count, 'more reason')} ${count === 1 ? 'is' : 'are'} in the report`];

const short = (reason: string): string => {
  const [line = ''] = reason.split('\n');
  return line.length > longestReason ? `${line.slice(0, longestReason)}…` : line;
};
