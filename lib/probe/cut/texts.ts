/** What a cut says to people. Pure. */
import type { DiskMode } from '../../disk-modes/index.ts';
import { toldInSeconds } from '../../durations.ts';
import { remedyLines } from '../remedies.ts';
import { refusedWords } from '../texts.ts';
import type { CutCertificate } from './certificate.ts';
import type { CutFinding } from './classify.ts';
import type { CutRemedy } from './cut-plan.ts';

export function cutText({
  plan,
  planHash,
  kubernetes,
  timers,
  classes,
  findings,
  record,
  refused = [],
  left,
}: CutCertificate): string {
  const [node] = plan.nodes;
  const width = Math.max(...findings.map(({ storageClass }) => storageClass.length));
  const since = (atMs: number | undefined): string =>
    atMs === undefined || record.cutMs === undefined
      ? 'never'
      : `+${toldInSeconds(atMs - record.cutMs)}`;
  return [
    `${node} cut off (${plan.way}), ${plan.remedy}, Kubernetes ${kubernetes}, plan ${planHash}`,
    timers.length === 0
      ? 'timers of the controller manager: as it ships, as far as could be read'
      : `timers of the controller manager: ${timers.join(' ')}`,
    `not Ready ${since(record.notReadyMs)}, ${plan.remedy === 'eviction' ? 'next pods made' : 'remedy'} ${since(record.remedyMs)}, reachable again ${since(record.healedMs)}, Ready again ${since(record.readyAgainMs)}`,
    '',
    ...findings.map((finding) => line(finding, width, plan.remedy)),
    '',
    'n = 1 for each class: one cut shows what can happen, not how often.',
    ...pathLines(classes),
    ...(refused.length === 0 ? [] : [`could not be read: ${refusedWords(refused)}`]),
    ...(left === undefined ? [] : ['', `still there: ${left}`]),
    ...remedyLines(modesSeen(findings)),
  ].join('\n');
}

/** On what the outcomes rest: of a path that was cut a fence is not to be told. */
function pathLines(classes: CutCertificate['classes']): string[] {
  const told = classes.flatMap(({ name, storagePath }) =>
    storagePath === undefined ? [] : [`${name} ${storagePath}`],
  );
  return told.length === 0 ? [] : [`the storage path of the node: ${told.join(', ')}`];
}

/** Modes of all classes under the cut, once each. */
export const modesSeen = (findings: readonly CutFinding[]): readonly DiskMode[] => [
  ...new Set(findings.flatMap(({ modes }) => modes)),
];

function line(finding: CutFinding, width: number, remedy: CutRemedy): string {
  const { storageClass, outcome, why, modes, next, detachedMs, afterHealAcks } = finding;
  const { podGoneMs } = finding;
  const since = remedy === 'eviction' ? 'it was not Ready' : 'the remedy';
  const more = [
    ...(remedy === 'eviction' && podGoneMs !== undefined
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
