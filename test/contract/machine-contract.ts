/** The part of the port's contract that is about one machine: what a fault does to it, and undoes. */
import { expect, test } from 'vitest';
import type { PodRef } from '../../lib/history/evidence.ts';
import { stalls } from '../../lib/run/ports/cluster.ts';
import type { AloneTestbed } from '../support/opened.ts';
import type { ClientSide } from '../../lib/history/workload.ts';

export interface MachineBench {
  readonly bench: {
    readonly within: (ms: number, condition: () => boolean | Promise<boolean>) => Promise<boolean>;
  };
  readonly testbed: AloneTestbed;
  readonly pod: PodRef;
  readonly acked: (client: ClientSide) => number;
  readonly grows: (client: ClientSide, withinMs: number) => Promise<boolean>;
}

/** `now`: the testbed with its writers going, once it is open. */
export function testMachine(now: () => MachineBench): void {
  test('a frozen node commits nothing until it is thawed; both are idempotent', async () => {
    const { testbed, pod, acked, grows } = now();
    const machine = testbed.machine(pod.node);
    await machine.freeze();
    await machine.freeze();
    expect(await machine.state()).toBe('frozen');
    const frozen = acked('inside');
    await testbed.clock.sleep(2000);
    // One acknowledgement may have been under way.
    expect(acked('inside')).toBeLessThanOrEqual(frozen + 4);
    await machine.thaw();
    await machine.thaw();
    expect(await machine.state()).toBe('running');
    expect(await grows('inside', 30_000)).toBe(true);
  });

  test('a disconnected node goes on for inside clients only, until it is reconnected', async () => {
    const { testbed, bench, pod, acked, grows } = now();
    const machine = testbed.machine(pod.node);
    await machine.disconnect();
    await machine.disconnect();
    expect(await machine.state()).toBe('running');
    expect(await machine.reachesApi()).toBe(false);
    expect(await machine.reachedFromOutside()).toBe(false);
    await testbed.clock.sleep(1000);
    const outside = acked('outside');
    expect(await grows('inside', 30_000)).toBe(true);
    expect(acked('outside')).toBe(outside);
    await machine.reconnect();
    await machine.reconnect();
    expect(await bench.within(60_000, () => machine.reachesApi())).toBe(true);
    expect(await bench.within(60_000, () => machine.reachedFromOutside())).toBe(true);
    expect(await grows('outside', 60_000)).toBe(true);
  });

  test('an isolated node loses the control plane alone, until it rejoins', async () => {
    const { testbed, bench, pod, grows } = now();
    const machine = testbed.machine(pod.node);
    await machine.isolate();
    await machine.isolate();
    expect(await machine.state()).toBe('running');
    expect(await machine.reachesApi()).toBe(false);
    expect(await machine.reachedFromOutside()).toBe(true);
    expect(await grows('inside', 30_000)).toBe(true);
    expect(await grows('outside', 30_000)).toBe(true);
    await machine.rejoin();
    await machine.rejoin();
    expect(await bench.within(60_000, () => machine.reachesApi())).toBe(true);
    expect(await bench.within(90_000, () => testbed.kubernetes.isReady(pod.node))).toBe(true);
  });

  test.each(['kubelet', 'runtime'] as const)(
    'while its %s stands still, a node serves on',
    async (what) => {
      const { testbed, bench, pod, grows } = now();
      const machine = testbed.machine(pod.node);
      expect(await machine.stalled()).toEqual([]);
      await machine.stall(what);
      await machine.stall(what);
      expect(await machine.stalled()).toEqual(stalls[what]);
      expect(await machine.state()).toBe('running');
      expect(await machine.reachesApi()).toBe(true);
      expect(await grows('inside', 30_000)).toBe(true);
      expect(await grows('outside', 30_000)).toBe(true);
      await machine.resume();
      await machine.resume();
      expect(await machine.stalled()).toEqual([]);
      expect(await bench.within(90_000, () => testbed.kubernetes.isReady(pod.node))).toBe(true);
    },
  );

  test('a starved node is stopped most of the time, until it gets its CPU back', async () => {
    const { testbed, pod } = now();
    const machine = testbed.machine(pod.node);
    expect(await machine.throttled()).toBe(0);
    await machine.throttle(0.01);
    await machine.throttle(0.01);
    expect(await machine.throttled()).toBeGreaterThan(0.5);
    await machine.unthrottle();
    await machine.unthrottle();
    expect(await machine.throttled()).toBe(0);
  });

  test('a killed server is started again, the second time only after a while', async () => {
    const { testbed, bench, pod, grows } = now();
    const { kubernetes } = testbed;
    const machine = testbed.machine(pod.node);
    const reported = async (isReady: boolean, withinMs: number): Promise<boolean> =>
      bench.within(withinMs, async () => {
        const report = await kubernetes.databaseContainer(pod);
        return report?.ready === isReady && (report.state === 'running') === isReady;
      });
    expect(await reported(true, 90_000)).toBe(true);
    expect(await machine.killServer()).toMatchObject({ verified: true });
    // Its kubelet starts it again at once, and may never report that it did not run.
    expect(await grows('inside', 90_000)).toBe(true);
    expect(await reported(true, 90_000)).toBe(true);
    // On a busy machine commits and report may be of the server that was killed: there is none yet.
    const killed = async (): Promise<boolean> => (await machine.killServer()).verified;
    expect(await bench.within(90_000, killed)).toBe(true);
    const killedAtMs = testbed.clock.nowMs();
    expect(await reported(false, 9000)).toBe(true);
    expect(await machine.killServer()).toMatchObject({ verified: false });
    expect(await reported(true, 120_000)).toBe(true);
    expect(testbed.clock.nowMs() - killedAtMs).toBeGreaterThan(9500);
    expect(await grows('inside', 30_000)).toBe(true);
    expect(await grows('outside', 60_000)).toBe(true);
    expect(await kubernetes.databaseContainer({ ...pod, uid: 'another' })).toBeUndefined();
  });

  test('a restarted kubelet is another process', async () => {
    const { testbed, bench, pod } = now();
    const machine = testbed.machine(pod.node);
    const { before, after } = await machine.restartKubelet();
    expect(before).toMatch(/^\d+$/);
    expect(after).toMatch(/^\d+$/);
    expect(after).not.toBe(before);
    expect(await bench.within(90_000, () => testbed.kubernetes.isReady(pod.node))).toBe(true);
  });
}
