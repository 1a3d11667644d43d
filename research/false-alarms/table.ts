/** What was counted, as Markdown: volumes, alarms and the bound on how often there may be one. */
import { mysql } from '../../lib/mysql/index.ts';
import { wilson, markdownTable } from '../../lib/core/index.ts';
import type { CleanVolume } from './volume.ts';

const percent = (share: number): string => `${(100 * share).toFixed(2)} %`;

export function falseAlarmTable(volumes: readonly CleanVolume[]): string {
  const stories = Map.groupBy(volumes, ({ scenario }) => `${scenario.via}\n${scenario.story}`);
  const rows = [...stories.values()].map((told) => {
    const about = told[0]?.scenario;
    return [about && wayOf(about), about?.story, ...numbers(told)].map((cell) => cell ?? '');
  });
  const head = ['Through', 'Story', 'Volumes', 'Copies', 'Commits', 'Incomplete', 'Flagged'];
  const sorted = rows.toSorted((a, b) => (a.join(' | ') < b.join(' | ') ? -1 : 1));
  const all = ['**all**', '', ...numbers(volumes)];
  return `${markdownTable(head, [...sorted, all])}\n\n${conclusion(volumes)}`;
}

const wayOf = ({ via }: CleanVolume['scenario']): string =>
  via === 'disk' ? `${mysql.server} on the disk alone` : via;

/** Volumes whose evidence has a gap count for nothing, unless they were accused all the same. */
export const counted = (volumes: readonly CleanVolume[]): readonly CleanVolume[] =>
  volumes.filter(({ outcome }) => outcome.flagged.length > 0 || outcome.incomplete.length === 0);

function numbers(volumes: readonly CleanVolume[]): string[] {
  const kept = counted(volumes);
  const sum = (of: (volume: CleanVolume) => number): number =>
    kept.reduce((total, volume) => total + of(volume), 0);
  return [
    kept.length,
    sum(({ outcome }) => outcome.images),
    sum(({ outcome }) => outcome.acked),
    volumes.length - kept.length,
    flaggedIn(kept),
  ].map(String);
}

const flaggedIn = (volumes: readonly CleanVolume[]): number =>
  volumes.filter(({ outcome }) => outcome.flagged.length > 0).length;

function conclusion(volumes: readonly CleanVolume[]): string {
  const kept = counted(volumes);
  const kind = kept.filter(({ scenario }) => scenario.via === 'kind').length;
  const flagged = flaggedIn(kept);
  const { high } = wilson(flagged, kept.length);
  return (
    `${flagged} of ${kept.length} clean volumes flagged, ${kind} of them through kind: ` +
    `with 95 % confidence fewer than ${percent(high)} are.`
  );
}
