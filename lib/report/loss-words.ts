/** Commits that are lost, that could not be read and that are missing: three different numbers in words, and each lost one in lost.jsonl. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { countInWords } from '../counts.ts';
import type { Loss, Verdict } from '../experiment/verdict/verdict.ts';
import type { BatchCell } from '../matrix/batch.ts';
import { percent } from './html-parts.ts';
import { assembleVerdict } from '../experiment/verdict/assemble.ts';
import type { History } from '../history/reader.ts';
import { OutputFile } from '../output-file.ts';

export const epochNames: Readonly<Record<keyof Loss, string>> = {
  beforeFault: 'before the fault',
  victimBeforeHandover: 'by the victim, before the hand-over',
  victimAfterHandover: 'by the victim, after the hand-over',
  successor: 'by the successor',
};

interface MissingInWords {
  readonly name: string;
  readonly value: string;
  readonly more: string;
}

export const lostName = 'Acknowledged commits lost';
const unreadable = 'Unreadable before the heal';
const missingAfter = 'Missing after the heal';
const unreadableAfter = 'Unreadable after the heal';
const byFirst = ', by the copy before the heal, the last that could be read';
const nobodyKnows = { value: 'not known', more: 'the audit of this copy failed' };

/** The three numbers, each by its name; the second and third where they add to the first. */
export function missingInWords({
  missing,
  images,
}: Pick<Verdict, 'missing' | 'images'>): MissingInWords[] {
  const { unreadableBeforeHeal, lost, afterHeal } = missing;
  const unaudited = images.flatMap((each) => (each.lost === null ? each.image : []));
  const isLastRead = images.every(({ image, readable }) => image !== 'second' || readable);
  const all: MissingInWords[] = [
    {
      name: lostName,
      value: lostText(lost),
      more:
        lost === null
          ? 'no copy could be read in full'
          : `${shareOf(lost)}${isLastRead ? '' : byFirst}`,
    },
  ];
  if (unreadableBeforeHeal !== null && unreadableBeforeHeal.count > 0) {
    const more = 'not lost where a later copy has them';
    all.push({ name: unreadable, value: countText(unreadableBeforeHeal), more });
  }
  if (unaudited.includes('first')) all.push({ name: unreadable, ...nobodyKnows });
  if (unaudited.includes('second')) all.push({ name: missingAfter, ...nobodyKnows });
  if (afterHeal !== null && (all.length > 1 || afterHeal.count > 0)) {
    const name = isLastRead ? missingAfter : unreadableAfter;
    all.push({ name, value: countText(afterHeal), more: shareOf(afterHeal) });
  }
  return all;
}

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

interface Share {
  readonly count: number;
  readonly of: number;
}

const countText = ({ count, of }: Share): string => `${countInWords(count)} of ${countInWords(of)}`;

export const lostText = (lost: Share | null): string =>
  lost === null ? 'not known' : countText(lost);

const shareOf = ({ count, of }: Share): string => percent(count, of);

/** lost.jsonl: every commit that was acknowledged and is gone, one a line, for whoever has to look. */
export const lostFile = 'lost.jsonl';

/** Where a copy that could be read lacks commits, each can be named. */
export const hasLostFile = ({ images }: Verdict): boolean =>
  images.some(({ lost, readable }) => readable && lost !== 0);

/**
 * Writes it where a copy of the volume that could be read lacks commits; else there is no such
 * file. The same history gives the same bytes.
 */
export function writeLostCommits(folder: string, verdict: Verdict, history: History): void {
  const path = join(folder, lostFile);
  if (!hasLostFile(verdict)) {
    rmSync(path, { force: true });
    return;
  }
  using file = new OutputFile(path);
  assembleVerdict(history, { onLost: (commit) => file.add(`${JSON.stringify(commit)}\n`) });
  file.commit();
}
