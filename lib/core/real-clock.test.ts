import { expect, test } from 'vitest';
import { realClock } from './time.ts';

test('clocks of one origin agree, whoever made them and when', async () => {
  const first = realClock();
  await first.sleep(20);
  const second = realClock(first.originNs);
  const [before, between, after] = [first.nowMs(), second.nowMs(), first.nowMs()];
  expect(before).toBeGreaterThanOrEqual(19);
  expect(between).toBeGreaterThanOrEqual(before - 0.01);
  expect(between).toBeLessThanOrEqual(after + 0.01);
});

test('a sleep that is aborted rejects with the reason itself', async () => {
  const clock = realClock();
  const aborter = new AbortController();
  const reason = new Error('enough');
  const sleeping = clock.sleep(60_000, aborter.signal);
  aborter.abort(reason);
  await expect(sleeping).rejects.toBe(reason);
  await expect(clock.sleep(1, aborter.signal)).rejects.toBe(reason);
});

test('a sleep beyond 24.8 days does not end at once', async () => {
  const aborter = new AbortController();
  const sleeping = realClock().sleep(30 * 86_400_000, aborter.signal);
  const first = await Promise.race([sleeping.then(() => 'slept'), realClock().sleep(50)]);
  expect(first).toBeUndefined();
  aborter.abort(new Error('enough'));
  await expect(sleeping).rejects.toThrow('enough');
});
