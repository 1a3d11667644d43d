import { expect, test } from 'vitest';
import { TimeLeft } from './time-left.ts';

test('a step has what it has after an interrupt, less what has passed of it', () => {
  let nowMs = 0;
  const left = new TimeLeft(() => nowMs);
  left.enter('watch');
  nowMs = 300_000;
  left.interrupt();
  left.enter('heal');
  nowMs += 3000;
  expect(left.words()).toBe('heal, at most 72 s more; all of it at most 362 s');
  left.enter('close');
  nowMs += 500;
  expect(left.words()).toBe('close, at most 180 s more; all of it at most 180 s');
});

test('a step that was under way is counted from the interrupt', () => {
  let nowMs = 0;
  const left = new TimeLeft(() => nowMs);
  nowMs = 60_000;
  left.interrupt();
  nowMs += 10_000;
  expect(left.words()).toBe('prepare, at most 170 s more; all of it at most 290 s');
});
