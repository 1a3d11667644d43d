/** Acknowledged commits that copies of the volume lack, in words, and each lost one in lost.jsonl. */
import { type LostCommit, type Loss, type Verdict, assembleVerdict } from '../judge/index.ts';
import type { Database } from '../run/index.ts';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { countInWords, OutputFile } from '../core/index.ts';
import type { BatchCell } from '../batch/index.ts';
import type { Fact } from './first-screen.ts';
import type { History } from '../history/index.ts';
import { zeroOf } from './wording.ts';

const epochNames: Readonly<Record<keyof Loss, string>> = {
  beforeFault: 'before the fault',
  victimBeforeHandover: 'by the victim, before the hand-over',
  victimAfterHandover: 'by the victim, after the hand-over',
  successor: 'by the successor',
};

/** Empty where no copy can tell. */
export const lossRows = (verdict: Pick<Verdict, 'loss' | 'scenario' | 'custom'>) =>
  Object.entries(verdict.loss ?? {}).map(([epoch, numbers]) => ({
    epoch: epochNames[epoch as keyof Loss].replace('the fault', `the ${zeroOf(verdict)}`),
    ...numbers,
  }));

type Copy = Verdict['images'][number];

const when = ({ image }: Copy): string =>
  image === 'first' ? 'before the heal' : 'after the heal';
const lacking = ({ acked, lost, readable }: Copy): string =>
  acked === 0 && !readable
    ? 'none; the copy is unreadable'
    : `${countInWords(lost ?? 0)} of ${countInWords(acked)} ${readable ? 'lost' : 'unreadable'}`;

/** What the last audited copy lacks, then what the others do: one tile, so that no two can disagree. */
export function commitsFact({ images }: Pick<Verdict, 'images'>): Fact {
  const name = 'Acknowledged commits';
  const copies = images.filter(({ image }) => image !== 'steady').toReversed();
  const last = copies.find(({ lost }) => lost !== null);
  if (last === undefined)
    return { name, value: 'not known', more: 'no copy after the fault could be audited' };
  const others = copies.filter((copy) => copy !== last);
  const isWhole = copies.every(({ lost, readable }) => lost === 0 && readable);
  const more =
    isWhole && others.length > 0
      ? 'before and after the heal'
      : [when(last), ...others.map(otherCopy)].join('; ');
  const isHarmed = last.lost !== 0 || !last.readable;
  return { name, value: lacking(last), more, ...(isHarmed ? { tone: 'lost' } : {}) };
}

const otherCopy = (copy: Copy): string =>
  copy.lost === null
    ? `the copy from ${when(copy)} could not be audited`
    : `${when(copy)} ${lacking(copy)}`;

export const lostOf = (lost: number | null, acked: number): string =>
  lost === null ? 'not known' : `${countInWords(lost)} of ${countInWords(acked)} lost`;

/** Heads losses by epoch: the worst of all copies, and what could not be read counts. */
export const lostColumn = ({ images }: Verdict): string =>
  images.every(({ readable }) => readable) ? 'lost' : 'lost or unreadable';

/** A cell's losses: medians, and each number by its name. Older runs did not tell them apart. */
export function cellLosses({ median }: BatchCell): string {
  const { lost, acked, gone, unreadableBeforeHeal, missingAfterHeal } = median;
  if (lost === null || acked === null) return '–';
  if (gone === null && unreadableBeforeHeal === null && missingAfterHeal === null)
    return `${countInWords(lost)} of ${countInWords(acked)} lost or unreadable`;
  const words = [
    gone === null ? 'loss not known' : `${countInWords(gone)} of ${countInWords(acked)} lost`,
  ];
  if (unreadableBeforeHeal)
    words.push(`${countInWords(unreadableBeforeHeal)} unreadable before the heal`);
  if (missingAfterHeal) words.push(`${countInWords(missingAfterHeal)} missing after it`);
  return words.join(', ');
}

/** lost.jsonl: every commit that was acknowledged and is gone, one a line, for whoever has to look. */
export const lostFile = 'lost.jsonl';

/** Where a copy that could be read lacks commits, each can be named. */
export const hasLostFile = ({ images }: Verdict): boolean =>
  images.some(({ lost, readable }) => readable && lost !== 0);

/**
 * Writes it where a copy of the volume that could be read lacks commits; else there is no such
 * file. The same history gives the same bytes.
 */
export function writeLostCommits(
  folder: string,
  verdict: Verdict,
  history: History,
  database: Database,
): void {
  const path = join(folder, lostFile);
  if (!hasLostFile(verdict)) {
    rmSync(path, { force: true });
    return;
  }
  using file = new OutputFile(path);
  const onLost = (commit: LostCommit): void => file.add(`${JSON.stringify(commit)}\n`);
  assembleVerdict(history, { database, onLost });
  file.commit();
}
