/** Kills come one by one, the fault while the container waits; where it does not, the run says so. */
import { expect, test } from 'vitest';
import type { Capability } from '../../core/capabilities.ts';
import type { ContainerReport } from '../ports/cluster.ts';
import type { HistoryRecord } from '../../history/records.ts';
import type { Fault, FaultContext } from './fault.ts';
import { withServerKills } from './around.ts';

const serving: ContainerReport = { state: 'running', ready: true };
const starting: ContainerReport = { state: 'running', ready: false };
const waiting: ContainerReport = { state: 'waiting', ready: false, reason: 'CrashLoopBackOff' };

interface Run {
  readonly said: string[];
  /** What each certificate claimed held. */
  readonly certified: boolean[];
  readonly whole: Fault;
  readonly context: FaultContext<Capability>;
}

/** A kubelet that reports these, one each time it is asked, and the last one for ever. */
function runWith(reports: readonly ContainerReport[], serverKills: number): Run {
  const said: string[] = [];
  const certified: boolean[] = [];
  const left = [...reports];
  let nowMs = 0;
  const inject = (): Promise<void> => Promise.resolve(void said.push('fault'));
  const heal = (): Promise<void> => Promise.resolve(void said.push('heal'));
  const report = (): ContainerReport | undefined => (left.length > 1 ? left.shift() : left[0]);
  const kill = (): { verified: boolean; evidence: string } => {
    said.push('kill');
    return { verified: true, evidence: 'process 7' };
  };
  const recorder = {
    record: (record: HistoryRecord) => {
      if (record.type === 'certificate') certified.push(record.holds);
    },
  };
  const pods = { databaseContainer: () => Promise.resolve(report()) };
  const context = {
    scenario: { fault: { serverKills } },
    victim: { node: 'a' },
    ...{ recorder, volumes: [{ recorder, pods }] },
    testbed: {
      clock: { nowMs: () => nowMs, sleep: (ms: number) => Promise.resolve(void (nowMs += ms)) },
      machine: () => ({ killServer: () => Promise.resolve(kill()) }),
    },
  } as unknown as FaultContext<Capability>;
  return {
    said,
    certified,
    context,
    whole: withServerKills({ name: 'f', leastMs: 0, inject, heal }),
  };
}

const { signal } = new AbortController();

test('each kill waits until the database is Ready again, and the fault until it is not', async () => {
  const reports = [serving, serving, waiting, starting, serving, waiting];
  const { whole, context, said, certified } = runWith(reports, 2);
  await whole.leadUp?.(context, signal);
  await whole.inject(context);
  await whole.heal(context);
  expect(said).toEqual(['kill', 'kill', 'fault', 'heal']);
  // Two kills, and the report before the fault and after it.
  expect(certified).toEqual([true, true, true, true]);
});

test('a container that runs again before the fault is in place fails a certificate', async () => {
  const reports = [serving, waiting, waiting, waiting, serving];
  const { whole, context, certified } = runWith(reports, 1);
  await whole.leadUp?.(context, signal);
  await whole.inject(context);
  expect(certified).toEqual([true, true, false]);
});

test('a kubelet that never reports the end stops the run before anything is broken', async () => {
  const { whole, context, said } = runWith([serving], 2);
  await expect(whole.leadUp?.(context, signal)).rejects.toMatchObject({ code: 'NOT_WAITING' });
  expect(said).toEqual(['kill']);
});
