/** The last lines of a run or a batch on the terminal: the verdict, what it found, what is missing and what to do. */
import { join } from 'node:path';
import { styleText } from 'node:util';
import { plural, plainText } from '../../core/index.ts';
import {
  failedCertificates,
  isStarved,
  readVerdict,
  storedVerdict,
  type VerdictWord,
} from '../../judge/index.ts';
import type { Batch } from '../../batch/index.ts';
import type { AnyVerdict, Judged } from '../library/run-plan.ts';
import type { Counts } from '../../scenario/index.ts';
import { basisLabel, expectedInRun, openWords } from '../../report/index.ts';

const shownReasons = 3;
const longestReason = 140;

type Incomplete = Pick<AnyVerdict, 'incompleteBecause' | 'certificates' | 'findings' | 'replay'>;

/** No line where the evidence is complete. */
export function missingInRun(verdict: Incomplete): string[] {
  const { incompleteBecause: reasons, replay } = verdict;
  if (reasons.length === 0) return [];
  const toDo = toDoFor(verdict);
  const shown = reasons.slice(0, shownReasons);
  return [
    ...shown.flatMap((reason) => [`  - ${short(reason)}`, `    ${toDo(reason)}`]),
    ...(reasons.length > shown.length ? [moreLine(reasons.length - shown.length)] : []),
    `Then run it again: ${replay}`,
  ];
}

/** By what gave the reason. */
function toDoFor({ certificates, findings }: Incomplete): (reason: string) => string {
  const ofFault = failedCertificates(certificates);
  const ofMachine = findings
    .filter(({ code }) => code === 'AUDIT_MACHINE_TROUBLE')
    .map(({ code, summary }) => `${code}: ${summary}`);
  return (reason) => {
    if (isStarved([reason])) return 'Stop other work on this machine, or use more cores.';
    if (ofFault.includes(reason))
      return 'The fault did not hold: check that nothing else heals it.';
    if (ofMachine.includes(reason)) return 'Free memory and disk space: npx forcedetach doctor';
    return 'If it happens again, see docs/how-to/troubleshooting.md.';
  };
}

/** No line where the batch and all its cells came to a verdict. */
export function missingInBatch(batch: Batch, folder: string): string[] {
  const { cells, controls, checks, inconclusiveBecause, replay } = batch;
  const within = (run: string | undefined): string => `    See ${join(folder, run ?? '')}`;
  const lines = [
    ...cells
      .filter(({ verdict }) => verdict === 'inconclusive')
      .flatMap(({ label, runs }) => {
        const run = runs[0]?.folder;
        return [`  - cell ${label}: ${short(whyIn(folder, run))}`, within(run)];
      }),
    ...controls
      .filter(({ holds }) => !holds)
      .flatMap(({ role, trouble, folder: run }) => [
        `  - control ${role}: ${short(trouble)}`,
        within(run),
      ]),
    ...checks
      .filter(({ agrees }) => agrees === false)
      .flatMap(({ label, verdict, before, folder: run }) => [
        `  - ${label}: ${verdict} alone, ${before.join(', ')} beside others`,
        within(run),
      ]),
  ];
  const shown = lines.slice(0, 2 * shownReasons);
  const more = (lines.length - shown.length) / 2;
  const others = lines.length === 0 ? inconclusiveBecause.map((why) => `  - ${short(why)}`) : [];
  if (lines.length + others.length === 0) return [];
  return [
    ...shown,
    ...others,
    ...(more > 0 ? [moreLine(more)] : []),
    ...(replay === undefined ? [] : [`Then run it again in a new folder: ${replay}`]),
  ];
}

/** The first reason of a cell's run. */
function whyIn(folder: string, run: string | undefined): string {
  const verdict =
    run === undefined
      ? undefined
      : readVerdict(join(folder, run), storedVerdict.pick({ incompleteBecause: true }));
  return verdict?.incompleteBecause[0] ?? 'its run failed';
}

const moreLine = (count: number): string =>
  `  - ${plural(count, 'more reason')} ${count === 1 ? 'is' : 'are'} in the report`;

const short = (reason: string): string => {
  const [line = ''] = reason.split('\n');
  return line.length > longestReason ? `${line.slice(0, longestReason)}…` : line;
};

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
