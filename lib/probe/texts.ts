/** What a probe says to people. Pure. */
import type { DiskMode } from '../scenario/index.ts';
import { toldInSeconds } from '../core/index.ts';
import { didInWords, hasRuns, isMeasured, onSuchADisk, type RemedyRow } from '../batch/index.ts';
import type { Certificate, CutCertificate, PredictionReport } from './certificate.ts';
import { type CutFinding, modesSeen } from './judge/cut.ts';
import type { ForceDeleted } from './judge/forced.ts';
import { answerWord } from './judge/measured.ts';
import { type CutRemedy, planLines } from './plan.ts';
import type { Figure } from './judge/heard.ts';
import { graceS } from './objects.ts';

export const onlyPredicted =
  'This is a prediction from documents and settings. Nothing was measured.';

export const predictedWord = ({ prediction: { mode } }: PredictionReport): string =>
  mode ?? 'no document settles it';

export const parameterWords = (parameters: Readonly<Record<string, string>>): string =>
  Object.entries(parameters)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ') || 'none';

/** One line a fact: what, what was found, where, how sure. */
export function answerText({ prediction, plan, refusal, missingRights }: PredictionReport): string {
  const width = Math.max(...prediction.lines.map(({ what }) => what.length));
  const missing = 'These rights are missing, for this prediction or for trials:';
  return [
    ...prediction.lines.map(
      ({ what, found, source, sure }) => `${what.padEnd(width)}  ${found}  [${sure}: ${source}]`,
    ),
    ...['', onlyPredicted],
    ...(plan === undefined ? [] : ['', 'Trials (--run) would do this:', ...planLines(plan)]),
    ...(refusal === undefined ? [] : ['', 'Trials would be refused:', refusal]),
    ...(missingRights.length === 0
      ? []
      : ['', missing, ...missingRights.map((each) => `  ${each}`)]),
  ].join('\n');
}

/** What an answer does not rest on. */
export const refusedWords = (refused: PredictionReport['refused']): string =>
  refused.map(({ what, why }) => `${what}: ${why}`).join('; ') || 'nothing';

const unreadLines = (refused: PredictionReport['refused'] = []): string[] =>
  refused.length === 0 ? [] : [`could not be read: ${refusedWords(refused)}`];

export const countWords = (count: Readonly<Partial<Record<string, number>>>): string =>
  Object.entries(count)
    .map(([word, n]) => `${word} ${n}`)
    .join(', ') || 'none';

/** What was measured, with n and the horizon. */
export function measuredText(certificate: Certificate): string {
  const { storageClass, driver, answer, plan, planHash, kubernetes, findings } = certificate;
  const { forceDeleted, refused, left } = certificate;
  const { notes, counts, next, figures } = answer;
  // The driver's own words, once each.
  const [said] = findings.flatMap(({ detachError, next: { said: ofNext } }) => [
    ...(detachError === undefined ? [] : [`a detach: ${detachError}`]),
    ...(ofNext === undefined ? [] : [`the next pod: ${ofNext}`]),
  ]);
  return [
    `${storageClass.name} (${driver.name}, Kubernetes ${kubernetes}): ${answerWord(answer)}`,
    '',
    `measured on ${plan.list.length} volumes as ${plan.volumeMode}, plan ${planHash}, each watched for ${plan.horizonMs / 1000} s`,
    `  kept      ${countWords(counts.kept)}`,
    `  idle      ${countWords(counts.idle)}`,
    `  contested ${countWords(counts.contested)}; next pod: ${countWords(next)}`,
    ...notedFigures(figures, notes),
    ...(said === undefined ? [] : [`  reported about ${said}`]),
    ...(forceDeleted === undefined ? [] : ['', ...forcedLines(forceDeleted)]),
    ...unreadLines(refused),
    ...remedyLines(answer.modes),
    ...(left === undefined ? [] : ['', `not removed: ${left}`]),
  ].join('\n');
}

export const forcedTitle = 'Force-deleted pods';
export const forcedMeaning =
  'The API drops a force-deleted pod at once, and its kubelet ends it later. ' +
  `These writers ignore SIGTERM: they write until SIGKILL, after a grace period of ${graceS} s. ` +
  'This shows what Kubernetes and a healthy kubelet do, not what the storage does. It is no part of the answer. ' +
  'If the node is silent, nothing ends the writer: a cut (--cut) shows that.';

const forcedLines = ({ counts, next, figures, notes }: ForceDeleted): string[] => [
  `${forcedTitle}: ${countWords(counts)}; next pod: ${countWords(next)}`,
  `  ${forcedMeaning}`,
  ...notedFigures(figures, notes),
];

const notedFigures = (figures: readonly Figure[], notes: readonly string[]): string[] => [
  ...figures.map(
    ({ what, n, p50Ms, p90Ms, mostMs }) =>
      `  ${what}: p50 ${p50Ms} ms, p90 ${p90Ms} ms, most ${mostMs} ms (n = ${n})`,
  ),
  ...notes.map((note) => `  note: ${note}`),
];

export const onceUnderCut = 'n = 1 for each class: one cut shows what can happen, not how often.';

export function cutText(certificate: CutCertificate): string {
  const { plan, planHash, kubernetes, timers, classes, findings, record, left } = certificate;
  const width = Math.max(...findings.map(({ storageClass }) => storageClass.length));
  const since = (atMs: number | undefined): string =>
    atMs === undefined || record.cutMs === undefined
      ? 'never'
      : `+${toldInSeconds(atMs - record.cutMs)}`;
  // On what the outcomes rest: of a path that was cut a fence is not to be told.
  const paths = classes.flatMap(({ name, storagePath }) =>
    storagePath === undefined ? [] : [`${name} ${storagePath}`],
  );
  return [
    `${plan.nodes[0]} cut off (${plan.way}), ${plan.remedy}, Kubernetes ${kubernetes}, plan ${planHash}`,
    `timers of the controller manager: ${timers.join(' ') || 'as it ships, as far as could be read'}`,
    `not Ready ${since(record.notReadyMs)}, ${plan.remedy === 'eviction' ? 'next pods made' : 'remedy'} ${since(record.remedyMs)}, reachable again ${since(record.healedMs)}, Ready again ${since(record.readyAgainMs)}`,
    '',
    ...findings.map((finding) => cutLine(finding, width, plan.remedy)),
    '',
    onceUnderCut,
    ...(paths.length === 0 ? [] : [`the storage path of the node: ${paths.join(', ')}`]),
    ...unreadLines(certificate.refused),
    ...(left === undefined ? [] : ['', `still there: ${left}`]),
    ...remedyLines(modesSeen(findings)),
  ].join('\n');
}

function cutLine(finding: CutFinding, width: number, remedy: CutRemedy): string {
  const { storageClass, outcome, why, modes, next, detachedMs, afterHealAcks } = finding;
  const { podGoneMs } = finding;
  const isEviction = remedy === 'eviction';
  const since = isEviction ? 'it was not Ready' : 'the remedy';
  const more = [
    ...(isEviction && podGoneMs !== undefined
      ? [`evicted ${toldInSeconds(podGoneMs)} after ${since}`]
      : []),
    ...(detachedMs === undefined ? [] : [`detached ${toldInSeconds(detachedMs)} after ${since}`]),
    ...(next.afterMs === undefined ? [] : [`next pod in after ${toldInSeconds(next.afterMs)}`]),
    ...(afterHealAcks === 0 ? [] : [`${afterHealAcks} writes of the old pod after the heal`]),
  ];
  const as = modes.length === 0 ? '' : ` → ${modes.join(' or ')}`;
  const facts = more.length === 0 ? '' : ` (${more.join(', ')})`;
  return `${storageClass.padEnd(width)}  ${outcome}${as}: ${why}${facts}`;
}

/**
 * What each remedy did on a disk of the kind that was found, as lines and as rows: measured by this
 * project on a disk of its own, which every text says.
 */
export const remediesTitle = 'What each remedy did on such a disk';
export const whoseRuns =
  'Counted from real runs of forcedetach, with MySQL on a disk of its own that is made to behave so: ' +
  'fault events, each with its bound of 95 % (Wilson). Your driver and your database were not in them.';
export const noRuns =
  'The measured runs are not in this copy of forcedetach; its documentation has them (results/README.md).';

export const remedyRows = (modes: readonly DiskMode[]) =>
  hasRuns() ? modes.map((mode) => ({ mode, rows: onSuchADisk(mode) })) : [];

function remedyLines(modes: readonly DiskMode[]): string[] {
  if (modes.length === 0) return [];
  if (!hasRuns()) return ['', noRuns];
  return ['', `${remediesTitle}. ${whoseRuns}`, ...remedyRows(modes).flatMap(linesOf)];
}

function linesOf({ mode, rows }: ReturnType<typeof remedyRows>[number]): string[] {
  const [measured, others] = [rows.filter(isMeasured), rows.filter((row) => !isMeasured(row))];
  const width = Math.max(0, ...measured.map((row) => didInWords(row).length));
  const reasoned = others.map(
    (row) => `${didInWords(row)} (${row.reasoned?.verdicts.join(' or ') ?? 'nothing'})`,
  );
  return [
    `  ${mode}`,
    ...measured.map((row) => `    ${didInWords(row).padEnd(width)}  ${countsInWords(row)}`),
    ...(others.length === 0
      ? []
      : [`    not measured; what reasoning expects: ${reasoned.join('; ')}`]),
  ];
}

const countsInWords = ({ stock, short }: RemedyRow): string =>
  [
    ...(stock === undefined ? [] : [`stock timers: ${stock}`]),
    ...(short === undefined ? [] : [`short timers: ${short}`]),
  ].join('; ');
