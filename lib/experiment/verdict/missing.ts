/**
 * Three numbers that are easily taken for each other: commits that could not be read for a while,
 * that are gone for good, and that are not there in the end.
 */
import type { Verdict } from './verdict.ts';

type Image = Verdict['images'][number];
type Count = Verdict['missing']['lost'];

export function missingOf(images: readonly Image[]): Verdict['missing'] {
  const first = images.find(({ image }) => image === 'first');
  const second = images.find(({ image }) => image === 'second');
  return {
    unreadableBeforeHeal: countOf(first, first?.readable === false ? first.lost : 0),
    lost: lostFor(images),
    afterHeal: countOf(second, second?.lost ?? 0),
  };
}

/** The last copy that could be read in full knows: what another could not show may be in it. */
function lostFor(images: readonly Image[]): Count {
  const last = images.findLast(({ image, readable }) => readable && image !== 'steady');
  return countOf(last, last?.lost ?? 0);
}

const countOf = (image: Image | undefined, count: number): Count =>
  image === undefined ? null : { count, of: image.acked };
