import { expect, test } from 'vitest';
import type { Machine, Testbed } from '../../cluster/port.ts';
import { barriersFor } from '../../cluster/barrier.ts';
import { shareFault } from './shared-fault.ts';

/** A testbed that writes down what is done to its node, and nothing else. */
function testbedThatTells(done: string[]): Testbed {
  const tell = (what: string) => async (): Promise<void> => {
    await Promise.resolve();
    done.push(what);
  };
  const machine = {
    disconnect: tell('disconnect'),
    kill: tell('kill'),
    start: tell('start'),
    reachesApi: tell('reachesApi'),
  };
  return {
    machine: () => machine as unknown as Machine,
    disk: { losePower: tell('losePower'), copy: tell('copy') },
    kubernetes: { taint: tell('taint'), forceDelete: tell('forceDelete') },
    auditor: { audit: tell('audit') },
    close: tell('close'),
  } as unknown as Testbed;
}

const twoRuns = (done: string[]): readonly Testbed[] =>
  barriersFor(2).map((barrier) => shareFault(testbedThatTells(done), barrier));

test('the node is broken once, when both runs are there; a pod is each run’s own', async () => {
  const done: string[] = [];
  const [first, second] = twoRuns(done);
  const breaking = first?.machine('node').disconnect();
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  expect(done).toEqual([]);
  await Promise.all([breaking, second?.machine('node').disconnect()]);
  const taint = { key: 'k', value: 'v', effect: 'NoExecute' } as const;
  await Promise.all([first, second].map(async (each) => each?.kubernetes.taint('node', taint)));
  const pod = { name: 'pod', uid: 'uid', node: 'node' };
  await Promise.all([first, second].map(async (each) => each?.kubernetes.forceDelete(pod)));
  expect(done).toEqual(['disconnect', 'taint', 'forceDelete', 'forceDelete']);
});

test('a crash cuts both volumes before it kills the node', async () => {
  const done: string[] = [];
  await Promise.all(
    twoRuns(done).map(async (each) => {
      await each.disk.losePower?.('node', 'canary');
      await each.machine('node').kill();
    }),
  );
  expect(done).toEqual(['losePower', 'losePower', 'kill']);
});

test('both have each answer about the node from one question', async () => {
  const done: string[] = [];
  const ask = async (testbed: Testbed): Promise<void> => {
    await testbed.machine('node').reachesApi();
    await testbed.machine('node').disconnect();
    await testbed.machine('node').reachesApi();
  };
  await Promise.all(twoRuns(done).map(ask));
  expect(done).toEqual(['reachesApi', 'disconnect', 'reachesApi']);
});

test('a run that asked less often than another has no old answer', async () => {
  const done: string[] = [];
  const [first, second] = twoRuns(done);
  for (let left = 3; left > 0; left--) await first?.machine('node').reachesApi();
  await second?.machine('node').reachesApi();
  expect(done).toHaveLength(4);
});

test('volumes are copied one after the other', async () => {
  const done: string[] = [];
  const [first, second] = twoRuns(done);
  const copying = first?.disk.copy('first', []).then(() => done.push('first has its copy'));
  await second?.disk.copy('first', []);
  await copying;
  expect(done).toEqual(['copy', 'first has its copy', 'copy']);
});

test('a run that closed holds the others up no more', async () => {
  const done: string[] = [];
  const [first, second] = twoRuns(done);
  const breaking = first?.machine('node').disconnect();
  await second?.close();
  await breaking;
  expect(done).toEqual(['close', 'disconnect']);
});
