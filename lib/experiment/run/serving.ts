/** After the heal: does somebody serve who will go on serving? */
import type { PodRef } from '../../cluster/port.ts';
import type { Writers } from '../../workload/port.ts';
import type { Sightings } from './sightings.ts';

export interface ServingContext {
  readonly victim: PodRef;
  /** The old pod was removed or evicted: it will be stopped, and what it still serves is its last. */
  readonly isLeaving: boolean;
  /** An idle workload commits nothing; then the mounts alone tell. */
  readonly isIdle: boolean;
  readonly acked: Writers['acked'];
  readonly sightings: Pick<Sightings, 'mountedOn' | 'cameBack'>;
}

/**
 * Asked again and again from the heal on: whether an outside client got a commit from a database that
 * stays, and at most one node has the volume. A zombie that is reached again serves for some seconds,
 * until its kubelet hears that the pod is gone; that is no recovery.
 */
export function servesAgain(context: ServingContext): () => boolean {
  const { victim, isLeaving, isIdle, acked, sightings } = context;
  const outside = (onVictim: boolean): number =>
    acked()
      .filter(({ client, node }) => client === 'outside' && (node === victim.node) === onVictim)
      .reduce((sum, { count }) => sum + count, 0);
  const othersBefore = outside(false);
  /** What the victim's node had served when the old pod was no longer on it, or no longer alone. */
  let victimBefore: number | undefined;

  return () => {
    const hasLeft = !isLeaving || sightings.cameBack || !sightings.mountedOn.has(victim.node);
    if (hasLeft) victimBefore ??= outside(true);
    const byVictim = victimBefore !== undefined && outside(true) > victimBefore;
    const serves = isIdle ? hasLeft : byVictim || outside(false) > othersBefore;
    return serves && sightings.mountedOn.size <= 1;
  };
}
