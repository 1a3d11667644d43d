/** What a probe says to people. Pure. */
import { planLines } from './trial-plan.ts';
import type { PredictionReport } from './prediction.ts';
import { remedyLines } from './remedies.ts';
import { graceS } from './trials/objects.ts';
import type { Certificate } from './trials/certificate.ts';
import type { ForceDeleted } from './trials/force-deleted.ts';
import type { Figure, MeasuredClass } from './trials/measured.ts';

export const onlyPredicted =
  'This is a prediction from documents and settings. Nothing was measured.';

/** One line a fact: what, what was found, where, how sure. */
export function answerText({ prediction, plan, refusal, missingRights }: PredictionReport): string {
  const width = Math.max(...prediction.lines.map(({ what }) => what.length));
  return [
    ...prediction.lines.map(
      ({ what, found, source, sure }) => `${what.padEnd(width)}  ${found}  [${sure}: ${source}]`,
    ),
    '',
    onlyPredicted,
    ...(plan === undefined ? [] : ['', 'Trials (--run) would do this:', ...planLines(plan)]),
    ...(refusal === undefined ? [] : ['', 'Trials would be refused:', refusal]),
    ...(missingRights.length === 0
      ? []
      : [
          '',
          'These rights are missing, for this prediction or for trials:',
          ...missingRights.map((each) => `  ${each}`),
        ]),
  ].join('\n');
}

/** The mode, or those that can't be told apart. */
export const answerWord = ({ mode, modes }: Pick<MeasuredClass, 'mode' | 'modes'>): string =>
  mode ?? (modes.length > 0 ? modes.join(' or ') : 'undecided');

/** What an answer does not rest on. */
export const refusedWords = (refused: PredictionReport['refused']): string =>
  refused.map(({ what, why }) => `${what}: ${why}`).join('; ') || 'nothing';

/** `cut 3, late-cut 1`. */
export const countWords = (count: Readonly<Partial<Record<string, number>>>): string =>
  Object.entries(count)
    .map(([word, n]) => `${word} ${n}`)
    .join(', ') || 'none';

/** What was measured, with n and the horizon. */
export function measuredText(certificate: Certificate): string {
  const { storageClass, driver, answer, plan, planHash, kubernetes, findings } = certificate;
  const { forceDeleted, refused = [] } = certificate;
  const { notes, counts, next, figures } = answer;
  return [
    `${storageClass.name} (${driver.name}, Kubernetes ${kubernetes}): ${answerWord(answer)}`,
    '',
    `measured on ${plan.list.length} volumes as ${plan.volumeMode}, plan ${planHash}, each watched for ${plan.horizonMs / 1000} s`,
    `  kept      ${countWords(counts.kept)}`,
    `  idle      ${countWords(counts.idle)}`,
    `  contested ${countWords(counts.contested)}; next pod: ${countWords(next)}`,
    ...figures.map(figureLine),
    ...notes.map((note) => `  note: ${note}`),
    ...saidBy(findings),
    ...(forceDeleted === undefined ? [] : ['', ...forcedLines(forceDeleted)]),
    ...(refused.length === 0 ? [] : [`could not be read: ${refusedWords(refused)}`]),
    ...remedyLines(answer.modes),
    ...(certificate.left === undefined ? [] : ['', `not removed: ${certificate.left}`]),
  ].join('\n');
}

/** Title of a row that is no part of the answer. */
export const forcedTitle = 'Force-deleted pods';
export const forcedMeaning =
  'The API drops a force-deleted pod at once, and its kubelet ends it later. ' +
  `These writers ignore SIGTERM: they write until SIGKILL, after a grace period of ${graceS} s. ` +
  'This shows what Kubernetes and a healthy kubelet do, not what the storage does. It is no part of the answer. ' +
  'If the node is silent, nothing ends the writer: a cut (--cut) shows that.';

const forcedLines = ({ counts, next, figures, notes }: ForceDeleted): string[] => [
  `${forcedTitle}: ${countWords(counts)}; next pod: ${countWords(next)}`,
  `  ${forcedMeaning}`,
  ...figures.map(figureLine),
  ...notes.map((note) => `  note: ${note}`),
];

const figureLine = ({ what, n, p50Ms, p90Ms, mostMs }: Figure): string =>
  `  ${what}: p50 ${p50Ms} ms, p90 ${p90Ms} ms, most ${mostMs} ms (n = ${n})`;

/** The driver's own words, once each. */
function saidBy(findings: Certificate['findings']): string[] {
  const said = findings.flatMap(({ detachError, next }) => [
    ...(detachError === undefined ? [] : [`a detach: ${detachError}`]),
    ...(next.said === undefined ? [] : [`the next pod: ${next.said}`]),
  ]);
  return said.length === 0 ? [] : [`  reported about ${said[0]}`];
}
