import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rendezvous, type Gate } from './rendezvous.ts';

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('nobody passes a gate before all have come to it', async () => {
  const order: readonly Gate[] = ['ready', 'fault', 'break', 'heal', 'close'];
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(9), { minLength: 1, maxLength: 5 }), async (delays) => {
      const passed: Gate[][] = [];
      const parties = rendezvous(delays.length);
      await Promise.all(
        parties.map(async (party, index) => {
          const mine: Gate[] = [];
          passed.push(mine);
          for (const gate of order) {
            for (let turn = 0; turn < (delays[index] ?? 0); turn += 1) await Promise.resolve();
            await party.pass(gate);
            mine.push(gate);
            const counts = passed.map((each) => each.length);
            expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
          }
        }),
      );
    }),
  );
});

test('who left, or went on to a later gate, holds nobody up', async () => {
  const [first, second, third] = rendezvous(3);
  let passed = false;
  const waiting = first?.pass('fault').then(() => (passed = true));
  second?.leave();
  await settle();
  expect(passed).toBe(false);
  void third?.pass('close');
  await waiting;
  expect(passed).toBe(true);
});

test('a shared call is made once, by the first; its next one is another', async () => {
  const [first, second] = rendezvous(2);
  let calls = 0;
  const work = (): Promise<number> => Promise.resolve((calls += 1));
  expect(await first?.once('disconnect', work)).toBe(1);
  expect(await first?.once('disconnect', work)).toBe(2);
  expect(await second?.once('disconnect', work)).toBe(1);
  expect(await second?.once('disconnect', work)).toBe(2);
  expect(calls).toBe(2);
});
