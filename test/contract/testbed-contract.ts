/**
 * The contract of lib/run/ports/cluster.ts: what every backend's testbed must do, as everything above the
 * port relies on it. The tests share one testbed and run in order; the last ones break it.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Backend } from '../../lib/run/ports/cluster.ts';
import type { PodRef, LedgerRow } from '../../lib/history/evidence.ts';
import type { Writers } from '../../lib/run/workload.ts';
import type { ReadRecord } from '../../lib/history/records.ts';
import { observed } from '../../lib/history/observations.ts';
import { openHistory } from '../../lib/history/reader.ts';
import type { ClientSide } from '../../lib/history/workload.ts';
import type { AloneTestbed } from '../support/opened.ts';
import { Bench, scenario, seed } from './bench.ts';
import { testControlPlane } from './control-plane-contract.ts';
import { testMachine } from './machine-contract.ts';
import { testRemedies } from './remedies-contract.ts';
import { testRemoval } from './removal-contract.ts';
import { ownEvidence } from '../../lib/mysql/evidence.ts';

const key = 'forcedetach.example/contract';
/** Linux's vm.dirty_writeback_centisecs. */
const writebackMs = 5000;

/** `backend` is made anew for the suite. `timeoutMs`: real time that one test may take. */
export function describeTestbed(name: string, makeBackend: () => Backend, timeoutMs: number): void {
  describe(`the testbed of ${name}`, { timeout: timeoutMs }, () => {
    let bench: Bench;
    let testbed: AloneTestbed;
    let observers: AsyncDisposable | undefined;
    let writers: Writers;
    let pod: PodRef;

    const acked = (client: ClientSide, node = pod.node): number =>
      writers.acked().find((each) => each.client === client && each.node === node)?.count ?? 0;
    const grows = (client: ClientSide, withinMs: number): Promise<boolean> => {
      const before = acked(client);
      return bench.within(withinMs, () => acked(client) > before);
    };

    beforeAll(async () => {
      bench = new Bench(makeBackend());
      testbed = await bench.open();
      observers = await testbed.observe(bench.recorder);
    }, timeoutMs);
    afterAll(async () => {
      // Without them the testbed was never opened, and the error of that is what counts.
      if (observers !== undefined) {
        await observers[Symbol.asyncDispose]();
        await testbed.close();
        await testbed.close();
      }
      bench.close();
    }, timeoutMs);

    test('it names its timers, versions and at least two nodes', () => {
      expect(testbed.nodes.length).toBeGreaterThanOrEqual(2);
      expect(Object.keys(testbed.versions).length).toBeGreaterThan(0);
      expect(testbed.timers.forceDetachAfterMs).toBe(scenario.timers.forceDetachAfter);
    });

    test('the clock goes on, and a sleep ends early with the reason of its signal', async () => {
      const { clock } = testbed;
      const before = clock.nowMs();
      await clock.sleep(50);
      expect(clock.nowMs()).toBeGreaterThanOrEqual(before + 49);
      const reason = new Error('enough');
      await expect(clock.sleep(60_000, AbortSignal.abort(reason))).rejects.toBe(reason);
      const aborter = new AbortController();
      const sleeping = clock.sleep(60_000, aborter.signal);
      aborter.abort(reason);
      await expect(sleeping).rejects.toBe(reason);
      expect(clock.nowMs()).toBeLessThan(before + 60_000);
    });

    test('the database pod runs on one of the nodes, all of which are Ready', async () => {
      const found = await testbed.kubernetes.databasePod();
      expect(found).toBeDefined();
      pod = found ?? pod;
      expect(testbed.nodes).toContain(pod.node);
      for (const node of testbed.nodes) {
        expect(await testbed.kubernetes.isReady(node)).toBe(true);
        expect(await testbed.machine(node).state()).toBe('running');
        expect(await testbed.machine(node).reachesApi()).toBe(true);
        expect(await testbed.machine(node).reachedFromOutside()).toBe(true);
      }
    });

    test('observers tell what is there when they begin', async () => {
      const expected: readonly (readonly [string, string])[] = [
        ...testbed.nodes.map((node) => [observed.nodeReady, node] as const),
        [observed.podRunning, pod.node],
        [observed.mounted, pod.node],
        [observed.deviceWritten, pod.node],
      ];
      const missing = (): typeof expected =>
        expected.filter(
          ([name, node]) => !bench.seen((seen) => seen.name === name && seen.node === node),
        );
      await bench.within(20_000, () => missing().length === 0);
      expect(missing()).toEqual([]);
      expect(bench.seen(({ data }) => data.uid === pod.uid)).toBe(true);
    });

    test('writers of both sides commit on the database’s node', async () => {
      const { load } = scenario;
      writers = await testbed.startWriters([
        { client: 'inside', connections: 2, rate: load.rate, seed, readEveryMs: 200 },
        { client: 'outside', connections: 2, rate: load.rate, seed },
      ]);
      expect(await grows('inside', 30_000)).toBe(true);
      expect(await grows('outside', 30_000)).toBe(true);
      expect(new Set(writers.acked().map(({ node }) => node))).toEqual(new Set([pod.node]));
    });

    test('a client’s reads tell who answered and the newest row, and only when asked for', async () => {
      const reads = (): ReadRecord[] =>
        [...openHistory(bench.folder).smallRecords()].filter((record) => record.type === 'read');
      const seesRow = (): boolean => reads().some(({ head }) => head !== undefined);
      expect(await bench.within(20_000, seesRow)).toBe(true);
      for (const { client, server, sentAtMs, t } of reads()) {
        expect([client, server.node, server.podUid]).toEqual(['inside', pod.node, pod.uid]);
        expect(t).toBeGreaterThanOrEqual(sentAtMs);
      }
    });

    test('the audit of a healthy copy is clean and has every acknowledged commit', async () => {
      const before = acked('inside') + acked('outside');
      await testbed.disk.copy('steady', [pod.node]);
      expect(await testbed.machine(pod.node).state()).toBe('running');
      const rows: LedgerRow[] = [];
      const evidence = await testbed.auditor.audit('steady', (row) => rows.push(row));
      expect(evidence.failures).toEqual([]);
      expect(evidence.mounted).toBe(true);
      expect(evidence.starts.every(({ ready, died }) => ready && died === undefined)).toBe(true);
      expect(evidence.ledgerComplete).toBe(true);
      expect(rows).toHaveLength(evidence.ledgerRows);
      expect(rows.length).toBeGreaterThanOrEqual(before);
      expect(rows.every(({ hashFits, linkFits }) => hashFits && linkFits)).toBe(true);
      expect(ownEvidence(evidence).tables?.every(({ check }) => check === 'OK')).toBe(true);
    });

    test('the audit of an image that was never copied names the gap', async () => {
      const { failures, ledgerComplete } = await testbed.auditor.audit('second', () => undefined);
      expect(failures).not.toEqual([]);
      expect(ledgerComplete).toBe(false);
    });

    testMachine(() => ({ bench, testbed, pod, acked, grows }));
    testControlPlane(() => ({
      testbed,
      within: (ms, condition) => bench.within(ms, condition),
    }));

    const tainted = (node: string, text: string): boolean =>
      bench.records
        .filter((record) => record.type === 'observation')
        .findLast((seen) => seen.name === observed.nodeTaints && seen.node === node)
        ?.data.taints?.toString()
        .includes(text) === true;

    testRemedies(() => ({
      testbed,
      pod,
      within: (ms, condition) => bench.within(ms, condition),
      tainted,
    }));

    test('taints come and go, and are seen', async () => {
      const node = testbed.nodes.find((each) => each !== pod.node) ?? '';
      await testbed.kubernetes.taint(node, { key, value: 'yes', effect: 'NoSchedule' });
      await testbed.kubernetes.taint(node, { key, value: 'yes', effect: 'NoSchedule' });
      expect(await bench.within(10_000, () => tainted(node, `${key}:NoSchedule`))).toBe(true);
      await testbed.kubernetes.untaint(node, key);
      await testbed.kubernetes.untaint(node, key);
      expect(await bench.within(10_000, () => !tainted(node, key))).toBe(true);
    });

    test('a killed node is stopped until it is started; both are idempotent', async () => {
      const machine = testbed.machine(testbed.nodes.find((each) => each !== pod.node) ?? '');
      await machine.kill();
      await machine.kill();
      expect(await machine.state()).toBe('stopped');
      await machine.start();
      await machine.start();
      expect(await machine.state()).toBe('running');
      expect(await bench.within(120_000, () => machine.reachesApi())).toBe(true);
    });

    test('a cut disk takes no more writes: synced canaries stay, unsynced ones are gone', async () => {
      const content = 'right before the cut';
      const machine = testbed.machine(pod.node);
      const beganAtMs = testbed.clock.nowMs();
      await testbed.disk.writeSyncedCanary(pod.node, content);
      await machine.freeze();
      expect((await testbed.disk.losePower(pod.node, content)).verified).toBe(true);
      const tookMs = testbed.clock.nowMs() - beganAtMs;
      expect((await testbed.disk.losePower(pod.node, content)).verified).toBe(true);
      // What is cut already needs no fence, but must be proven all the same.
      expect((await testbed.disk.fence(pod.node)).verified).toBe(true);
      await machine.thaw();
      await testbed.clock.sleep(1000);
      const cut = acked('inside') + acked('outside');
      await testbed.clock.sleep(2000);
      expect(acked('inside') + acked('outside')).toBe(cut);
      await testbed.disk.copy('first', []);
      const { canaries, ledgerRows } = await testbed.auditor.audit('first', () => undefined);
      expect(canaries['synced']).toBe(content);
      // On a machine too busy to cut within a writeback period, the kernel itself may have synced it.
      if (tookMs < writebackMs) expect(canaries['unsynced']).not.toBe(content);
      expect(ledgerRows).toBeGreaterThanOrEqual(cut);
    });

    test('writers stop, twice too, and count no more', async () => {
      await writers.stop();
      await writers.stop();
      const before = writers.acked();
      await testbed.clock.sleep(500);
      expect(writers.acked()).toEqual(before);
    });

    testRemoval(() => ({ bench, testbed, pod }));
  });
}
