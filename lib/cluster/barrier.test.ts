import fc from 'fast-check';
import { expect, test } from 'vitest';
import { barriersFor, type Gate } from './barrier.ts';

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('nobody passes a gate before all have come to it', async () => {
  const order: readonly Gate[] = ['ready', 'fault', 'break', 'heal', 'close'];
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(9), { minLength: 1, maxLength: 5 }), async (delays) => {
      const passed: Gate[][] = [];
      const barriers = barriersFor(delays.length);
      await Promise.all(
        barriers.map(async (barrier, index) => {
          const mine: Gate[] = [];
          passed.push(mine);
          for (const gate of order) {
            for (let turn = 0; turn < (delays[index] ?? 0); turn += 1) await Promise.resolve();
            await barrier.pass(gate);
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
  const [first, second, third] = barriersFor(3);
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
  const [first, second] = barriersFor(2);
  let calls = 0;
  const work = (): Promise<number> => Promise.resolve((calls += 1));
  expect(await first?.once('disconnect', work)).toBe(1);
  expect(await first?.once('disconnect', work)).toBe(2);
  expect(await second?.once('disconnect', work)).toBe(1);
  expect(await second?.once('disconnect', work)).toBe(2);
  expect(calls).toBe(2);
});

test('work in turn never overlaps, and a failure does not stop the next', async () => {
  const barriers = barriersFor(4);
  let running = 0;
  const results = await Promise.allSettled(
    barriers.map((barrier, index) =>
      barrier.inTurn('start', async () => {
        running += 1;
        expect(running).toBe(1);
        await settle();
        running -= 1;
        if (index === 1) throw new Error('no');
      }),
    ),
  );
  expect(results.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
  ]);
});

test('work of one kind does not wait for that of another', async () => {
  const [barrier] = barriersFor(1);
  const audit = Promise.withResolvers<void>();
  const auditing = barrier?.inTurn('audit', () => audit.promise);
  expect(await barrier?.inTurn('copy', () => Promise.resolve('copied'))).toBe('copied');
  audit.resolve();
  await auditing;
});
