/** The part of the port's contract that is about the control plane. */
import { expect, test } from 'vitest';
import type { AloneTestbed } from '../support/opened.ts';

export interface ControlPlaneBench {
  readonly testbed: AloneTestbed;
  readonly within: (ms: number, condition: () => Promise<boolean>) => Promise<boolean>;
}

/** `now`: the testbed, once it is open. */
export function testControlPlane(now: () => ControlPlaneBench): void {
  test.each(['attacher', 'api-server', 'control-plane'] as const)(
    'the %s stands still and goes on',
    async (what) => {
      const { testbed, within } = now();
      const { controlPlane, nodes } = testbed;
      const before = await controlPlane.look(what);
      expect(before).toMatchObject({ stalled: false, process: expect.stringMatching(/\d+$/) });
      await controlPlane.stall(what);
      await controlPlane.stall(what);
      expect(await controlPlane.look(what)).toEqual({ ...before, stalled: true });
      const reached = await testbed.machine(nodes[0] ?? '').reachesApi();
      expect(reached).toBe(what === 'attacher');
      await controlPlane.resume(what);
      await controlPlane.resume(what);
      expect(await controlPlane.look(what)).toEqual(before);
      expect(await within(60_000, () => testbed.machine(nodes[0] ?? '').reachesApi())).toBe(true);
    },
  );

  test('what is written to a Lease is there until it is taken away', async () => {
    const { kubernetes, nodes } = now().testbed;
    const [node = ''] = nodes;
    expect(await kubernetes.leaseAnnotation(node)).toBeUndefined();
    await kubernetes.annotateLease(node, '1');
    await kubernetes.annotateLease(node, '2');
    expect(await kubernetes.leaseAnnotation(node)).toBe('2');
    await kubernetes.annotateLease(node, undefined);
    await kubernetes.annotateLease(node, undefined);
    expect(await kubernetes.leaseAnnotation(node)).toBeUndefined();
    expect(await kubernetes.isReady(node)).toBe(true);
  });

  test('a killed controller manager is replaced', async () => {
    const { testbed, within } = now();
    const { controlPlane } = testbed;
    const { process: first } = await controlPlane.look('controller-manager');
    await controlPlane.kill();
    const isReplaced = async (): Promise<boolean> => {
      const { process } = await controlPlane.look('controller-manager');
      return process !== undefined && process !== first;
    };
    expect(await within(60_000, isReplaced)).toBe(true);
  });
}
