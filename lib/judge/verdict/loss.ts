/** What a run lost, by who had acknowledged it and when. */
import type { Reconciliation } from '../checkers/reconcile.ts';
import type { Loss, Verdict } from './verdict.ts';
import { epochs } from '../checkers/journal.ts';

/**
 * The worst of all images, epoch by epoch: what the fault took, and what the heal took after it. Null
 * where none of them knows; one from before the fault can tell of a loss, never that there is none.
 */
export function lossOf(reconciliations: ReadonlyMap<string, Reconciliation>): Loss | null {
  const telling = [...reconciliations].filter(
    ([image, { unread, lost }]) => unread !== 'gap' && (image !== 'steady' || lost > 0),
  );
  if (telling.length === 0) return null;
  const worstIn = (epoch: keyof Loss): Loss['successor'] => {
    const counts = telling.map(([, { byEpoch }]) => byEpoch[epoch]);
    return {
      acked: Math.max(0, ...counts.map(({ acked }) => acked)),
      lost: Math.max(0, ...counts.map(({ lost }) => lost)),
    };
  };
  return Object.fromEntries(epochs.map((epoch) => [epoch, worstIn(epoch)])) as Loss;
}

export const lostIn = (loss: Loss | null): number | null =>
  loss === null ? null : Object.values(loss).reduce((sum, { lost }) => sum + lost, 0);

/**
 * Three numbers that are easily taken for each other: commits that could not be read for a while,
 * that are gone for good, and that are not there in the end.
 */
type VerdictImage = Verdict['images'][number];
type LostCount = Verdict['missing']['lost'];

export function missingOf(images: readonly VerdictImage[]): Verdict['missing'] {
  const first = images.find(({ image }) => image === 'first');
  const second = images.find(({ image }) => image === 'second');
  return {
    unreadableBeforeHeal: countOf(first, first?.readable === true ? 0 : first?.lost),
    lost: lostFor(images),
    afterHeal: countOf(second, second?.lost),
  };
}

/** The last copy that could be read in full knows: what another could not show may be in it. */
function lostFor(images: readonly VerdictImage[]): LostCount {
  const last = images.findLast(({ image, readable }) => readable && image !== 'steady');
  return countOf(last, last?.lost);
}

const countOf = (
  image: VerdictImage | undefined,
  count: VerdictImage['lost'] | undefined,
): LostCount =>
  image === undefined || typeof count !== 'number' ? null : { count, of: image.acked };
