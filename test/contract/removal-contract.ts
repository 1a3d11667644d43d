/** The part of the port's contract that takes the database away: its pod, then all of it. */
import { expect, test } from 'vitest';
import type { Backend } from '../../lib/run/ports/cluster.ts';
import type { PodRef } from '../../lib/history/evidence.ts';
import type { AloneTestbed } from '../support/opened.ts';
import { type ObservationRecord, csiCalls, observed } from '../../lib/history/observations.ts';

export interface RemovalBench {
  readonly bench: {
    readonly backend: Pick<Backend, 'isModel'>;
    readonly within: (ms: number, condition: () => boolean | Promise<boolean>) => Promise<boolean>;
    readonly seen: (which: (record: ObservationRecord) => boolean) => boolean;
  };
  readonly testbed: AloneTestbed;
  readonly pod: PodRef;
}

/** `now`: the testbed whose steady image was copied; afterwards it has no database any more. */
export function testRemoval(now: () => RemovalBench): void {
  test('a force-deleted pod is gone at once, gets a successor, and is torn down', async () => {
    const { bench, testbed, pod } = now();
    await testbed.kubernetes.forceDelete(pod);
    await testbed.kubernetes.forceDelete(pod);
    const gone = ({ name, data }: ObservationRecord): boolean =>
      name === observed.podGone && data.uid === pod.uid;
    expect(await bench.within(10_000, () => bench.seen(gone))).toBe(true);
    // The model has no audit log; on a cluster it names who asked.
    const asked = ({ name, data }: ObservationRecord): boolean =>
      name === observed.apiRequest &&
      data.verb === 'delete' &&
      data.object === pod.name &&
      data.gracePeriodS === 0;
    if (!bench.backend.isModel) {
      expect(await bench.within(10_000, () => bench.seen(asked))).toBe(true);
    }
    const replaced = await bench.within(60_000, async () => {
      const successor = await testbed.kubernetes.databasePod();
      return successor !== undefined && successor.uid !== pod.uid;
    });
    expect(replaced).toBe(true);
    const tornDown = ({ name, node, data }: ObservationRecord): boolean =>
      name === observed.csiCall && node === pod.node && data.call === csiCalls.nodeUnpublish;
    expect(await bench.within(60_000, () => bench.seen(tornDown))).toBe(true);
  });

  test('without its database a copy is audited as before; it is removed once', async () => {
    const { bench, testbed } = now();
    await testbed.removeDatabase();
    await testbed.removeDatabase();
    if (!bench.backend.isModel) {
      expect(await testbed.kubernetes.databasePod()).toBeUndefined();
    }
    const evidence = await testbed.auditor.audit('steady', () => undefined);
    expect(evidence.failures).toEqual([]);
    expect(evidence.ledgerComplete).toBe(true);
  });
}
