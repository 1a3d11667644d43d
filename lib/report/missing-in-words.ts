/** Unreadable, lost and missing told apart: three numbers that are easily taken for each other. */
import { countInWords } from '../counts.ts';
import type { Verdict } from '../experiment/verdict/verdict.ts';
import { percent } from './html-parts.ts';

interface MissingInWords {
  readonly name: string;
  readonly value: string;
  readonly more: string;
}

/** Each by its name; the second and third where they add to the first. */
export function missingInWords({ missing, images }: Verdict): MissingInWords[] {
  const { unreadableBeforeHeal, lost, afterHeal } = missing;
  const isLastRead = images.every(({ image, readable }) => image !== 'second' || readable);
  const all: MissingInWords[] = [
    {
      name: 'Acknowledged commits lost',
      value: lost === null ? 'not known' : countText(lost),
      more:
        lost === null
          ? 'no copy could be read in full'
          : `${shareOf(lost)}${isLastRead ? '' : byFirst}`,
    },
  ];
  if (unreadableBeforeHeal !== null && unreadableBeforeHeal.count > 0) {
    const more = 'not lost where a later copy has them';
    all.push({ name: 'Unreadable before the heal', value: countText(unreadableBeforeHeal), more });
  }
  if (afterHeal !== null && (all.length > 1 || afterHeal.count > 0)) {
    const name = `${isLastRead ? 'Missing' : 'Unreadable'} after the heal`;
    all.push({ name, value: countText(afterHeal), more: shareOf(afterHeal) });
  }
  return all;
}

const byFirst = ', by the copy before the heal, the last that could be read';

interface Share {
  readonly count: number;
  readonly of: number;
}

const countText = ({ count, of }: Share): string => `${countInWords(count)} of ${countInWords(of)}`;

const shareOf = ({ count, of }: Share): string => percent(count, of);
