/** Does a watch of the Kubernetes API still see? What a list says now, it must know soon. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesObject } from '@kubernetes/client-node';
import { beatEveryMs, type Beating } from '../../../history/observers.ts';

export interface Watching {
  list(): Promise<{ readonly items: readonly KubernetesObject[] }>;
  /** What the watch has of it. */
  known(name: string, namespace?: string): KubernetesObject | undefined;
}

export interface BeatTimes {
  readonly everyMs: number;
  /** A list that takes longer was not answered. */
  readonly listedWithinMs: number;
  /** A watch is told of a change within milliseconds. */
  readonly knownWithinMs: number;
}

const usual: BeatTimes = { everyMs: beatEveryMs, listedWithinMs: 10_000, knownWithinMs: 2000 };

/** Beats until aborted, whenever all watches know all that was listed; else it is silent. */
export async function beatWhileSeeing(
  watches: readonly Watching[],
  { beat }: Pick<Beating, 'beat'>,
  signal: AbortSignal,
  { everyMs, listedWithinMs, knownWithinMs }: BeatTimes = usual,
): Promise<void> {
  const pause = (ms: number): Promise<unknown> =>
    sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
  while (!signal.aborted) {
    const lists = Promise.all(watches.map((watch) => watch.list())).catch(() => undefined);
    const listed = await Promise.race([lists, pause(listedWithinMs).then(() => undefined)]);
    if (listed !== undefined) {
      await pause(knownWithinMs);
      const sees = watches.every((watch, index) => knowsAll(watch, listed[index]?.items ?? []));
      if (sees && !signal.aborted) beat();
    }
    await pause(everyMs);
  }
}

const knowsAll = (watch: Watching, items: readonly KubernetesObject[]): boolean =>
  items.every((item) => {
    const known = watch.known(item.metadata?.name ?? '', item.metadata?.namespace);
    return known !== undefined && versionOf(known) >= versionOf(item);
  });

/** Versions of one resource are numbers that grow (KEP-5504). */
const versionOf = ({ metadata }: KubernetesObject): bigint =>
  BigInt(metadata?.resourceVersion ?? '0');
