import { expect, test } from 'vitest';
import { clusterInTurn, gatesIn } from './cluster.ts';

/** Lets everything that could go on do so. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('clusters are made one after the other, and whose is up waits for those behind it', async () => {
  const told: string[] = [];
  const making = new Map<string, PromiseWithResolvers<void>>();
  const ask = async (name: string): Promise<void> => {
    await clusterInTurn(() => {
      told.push(`${name} begins`);
      const done = Promise.withResolvers<void>();
      making.set(name, done);
      return done.promise;
    });
    told.push(`${name} has it`);
  };
  const first = ask('first');
  const second = ask('second');
  await settled();
  expect(told).toEqual(['first begins']);
  making.get('first')?.resolve();
  await settled();
  expect(told).toEqual(['first begins', 'second begins']);
  const third = ask('third');
  making.get('second')?.resolve();
  await settled();
  expect(told).toEqual(['first begins', 'second begins', 'third begins']);
  making.get('third')?.resolve();
  await Promise.all([first, second, third]);
  expect(told.slice(3).toSorted()).toEqual(['first has it', 'second has it', 'third has it']);
});

test('one that fails says so at once, and the next is made', async () => {
  const failing = clusterInTurn(() => Promise.reject(new Error('no room')));
  const next = clusterInTurn(async () => 'made');
  await expect(failing).rejects.toThrow('no room');
  expect(await next).toBe('made');
});

test('the gates are read from what kubelet prints', () => {
  const help = `      --feature-gates mapStringBool      A set of key=value pairs. Options are:
                AllAlpha=true|false (ALPHA - default=false)
                kube:AllBeta=true|false (BETA - default=false)
                NodeControllerLeaseCircuitBreaker=true|false (BETA - default=true)`;
  expect(gatesIn(help)).toEqual(['AllAlpha', 'AllBeta', 'NodeControllerLeaseCircuitBreaker']);
  expect(gatesIn('nothing of the sort')).toEqual([]);
});
