/** The part of the port's contract that is about remedies, on a node that does not run the database. */
import { expect, test } from 'vitest';
import type { PodRef } from '../../lib/history/evidence.ts';
import type { AloneTestbed } from '../support/opened.ts';

export interface RemediesBench {
  readonly testbed: AloneTestbed;
  readonly pod: PodRef;
  readonly within: (ms: number, condition: () => boolean | Promise<boolean>) => Promise<boolean>;
  /** Whether observers last saw a taint on the node that has this text in it. */
  readonly tainted: (node: string, text: string) => boolean;
}

/** `now`: the testbed, once it is open. */
export function testRemedies(now: () => RemediesBench): void {
  const other = (): string => {
    const { testbed, pod } = now();
    return testbed.nodes.find((each) => each !== pod.node) ?? '';
  };

  test('a drained node is cordoned until it is uncordoned', async () => {
    const { testbed, within, tainted } = now();
    const { kubernetes } = testbed;
    expect(await kubernetes.drain(other(), 60_000)).toMatchObject({ drained: true });
    // The controller manager puts it there. One that was killed has its place taken after its lease
    // (15 s, and a try each 2 s: client-go leaderelection as kube-controller-manager sets it).
    expect(await within(30_000, () => tainted(other(), 'unschedulable:NoSchedule'))).toBe(true);
    await kubernetes.uncordon(other());
    await kubernetes.uncordon(other());
    expect(await within(10_000, () => !tainted(other(), 'unschedulable'))).toBe(true);
  });

  test('a pod that is gone is deleted without an error, and its successor stays', async () => {
    const { testbed, pod } = now();
    const gone = { ...pod, uid: 'another' };
    await testbed.kubernetes.deletePod(gone);
    await testbed.kubernetes.stripPodFinalizers(gone);
    await testbed.kubernetes.stripPodFinalizers({ ...gone, name: 'nobody' });
    expect(await testbed.kubernetes.databasePod()).toEqual(pod);
  });

  test('a node without attachments has none that could be deleted', async () => {
    const { kubernetes } = now().testbed;
    expect(await kubernetes.deleteAttachments(other(), { stripFinalizers: true })).toEqual([]);
  });

  test('a deleted node is not Ready, until its kubelet starts anew', async () => {
    const { testbed, within } = now();
    const { kubernetes } = testbed;
    expect(await kubernetes.hasNode(other())).toBe(true);
    await kubernetes.deleteNode(other());
    await kubernetes.deleteNode(other());
    expect(await kubernetes.hasNode(other())).toBe(false);
    expect(await kubernetes.isReady(other())).toBe(false);
    await testbed.machine(other()).restartKubelet();
    expect(await within(90_000, () => kubernetes.isReady(other()))).toBe(true);
  });
}
