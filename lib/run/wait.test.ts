/** Waiting on a clock that only moves when somebody sleeps. */
import { expect, test } from 'vitest';
import type { Clock } from '../core/time.ts';
import { waitUntil } from './moments.ts';

function steppingClock(): Clock & { sleeps: number[] } {
  let nowMs = 0;
  const sleeps: number[] = [];
  return {
    sleeps,
    nowMs: () => nowMs,
    wallMs: () => nowMs,
    sleep: (ms, signal) => {
      signal?.throwIfAborted();
      sleeps.push(ms);
      nowMs += ms;
      return Promise.resolve();
    },
  };
}
const { signal } = new AbortController();

test('it ends as soon as the condition holds', async () => {
  const clock = steppingClock();
  expect(await waitUntil(clock, () => clock.nowMs() >= 250, { deadlineMs: 1000, signal })).toBe(
    true,
  );
  expect(clock.nowMs()).toBe(300);
});

test('it gives up at the deadline and never sleeps past it', async () => {
  const clock = steppingClock();
  expect(await waitUntil(clock, () => false, { deadlineMs: 250, signal })).toBe(false);
  expect(clock.sleeps).toEqual([100, 100, 50]);
});

test('an abort ends it', async () => {
  const abort = new AbortController();
  abort.abort(new Error('stop'));
  const waiting = waitUntil(steppingClock(), () => false, { deadlineMs: 9, signal: abort.signal });
  await expect(waiting).rejects.toThrow('stop');
});
