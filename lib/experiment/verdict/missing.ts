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
    unreadableBeforeHeal: countOf(first, first?.readable === true ? 0 : first?.lost),
    lost: lostFor(images),
    afterHeal: countOf(second, second?.lost),
  };
}

/** The last copy that could be read in full knows: what another could not show may be in it. */
function lostFor(images: readonly Image[]): Count {
  const last = images.findLast(({ image, readable }) => readable && image !== 'steady');
  return countOf(last, last?.lost);
}

const countOf = (image: Image | undefined, count: Image['lost'] | undefined): Count =>
  image === undefined || typeof count !== 'number' ? null : { count, of: image.acked };
