/** `forcedetach sweep --on-cluster`: from the flags to the sweep on the user's cluster. */
import { UsageError, type UserClients, userClients, typed } from '../../core/index.ts';
import {
  islandCount,
  islandEnd,
  sweep,
  type SweepState,
  mustBeAllowedIn,
  imageFor,
  newSweepNamespace,
  reapSweeps,
  sweepOnCluster,
  type ClusterSweep,
  sweepPool,
} from '../../sweep/index.ts';
import { onInterrupt } from '../guard.ts';
import { save } from './sweep-files.ts';
import type { SweepFlags } from '../flags/sweep-flags.ts';

/** Unless --shards says: one an island, and no more than any cluster may be asked for at once. */
const mostByDefault = 16;

export interface ExploreOnCluster extends Pick<ClusterSweep, 'access' | 'from' | 'say'> {
  readonly folder: string;
  readonly flags: SweepFlags;
}

/** The cluster, which lets us do what a sweep does; what earlier sweeps left is gone. */
export async function openSweepCluster(
  { context }: SweepFlags,
  say: (line: string) => void,
): Promise<UserClients> {
  const access = await userClients(context);
  await mustBeAllowedIn(access, newSweepNamespace());
  const { resisted } = await reapSweeps(say);
  for (const { namespace, why } of resisted) say(`${namespace} stays: ${why}`);
  return access;
}

/** What joined is saved after each shard, so that the same command goes on from there. */
export async function exploreOnCluster(options: ExploreOnCluster): Promise<SweepState> {
  const { access, folder, flags, say } = options;
  const untilIndex = flags.schedules ?? 0;
  const from = await endIsland(options, untilIndex);
  if (from.next >= untilIndex) return from;
  const islands = islandCount(from.next, untilIndex);
  using interrupt = onInterrupt(say, () => 'the namespace on the cluster');
  const startedMs = performance.now();
  return sweepOnCluster({
    access,
    from,
    untilIndex,
    shards: flags.shards ?? Math.min(islands, mostByDefault),
    image: await imageFor(access, flags.images ?? 'auto'),
    signal: interrupt.signal,
    onShard: (state) => save(folder, state),
    say: (line) => say(`[${Math.round((performance.now() - startedMs) / 1000)} s] ${line}`),
  });
}

/** A sweep that was stopped amid an island first goes to its end here: shards begin with islands. */
async function endIsland(
  { from, folder, flags, say }: ExploreOnCluster,
  until: number,
): Promise<SweepState> {
  const end = Math.min(until, islandEnd(from.next - 1));
  if (from.next >= end) return from;
  say(`playing schedules ${from.next} to ${end - 1} here first`);
  await using pool = sweepPool(flags.threads);
  const rounds = { pool, from, untilIndex: end, goesOn: () => true, onRound: () => undefined };
  const ended = await sweep(rounds);
  save(folder, ended);
  return ended;
}

/** Throws UsageError `SCHEDULES_MISSING`, `ONLY_ON_CLUSTER`. */
export function checkClusterFlags(flags: SweepFlags): void {
  const { onCluster, schedules, time } = flags;
  if (!onCluster) {
    const given = (['context', 'shards', 'images'] as const).find((name) => flags[name]);
    if (given === undefined) return;
    throw new UsageError('ONLY_ON_CLUSTER', `--${given} applies to a sweep on a cluster only`, {
      hint: 'add --on-cluster, or omit it',
      again: ['--on-cluster'],
    });
  }
  if (schedules === undefined || time !== undefined) {
    throw new UsageError('SCHEDULES_MISSING', 'a Job on a cluster needs a number of schedules', {
      hint: 'give --schedules instead of --time',
      command: typed('sweep', ['--on-cluster', '--schedules', '1000000']),
    });
  }
}
