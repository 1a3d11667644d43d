import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { InterruptError } from '../core/errors.ts';
import { onInterrupt } from './guard.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => vi.useRealTimers());

test('the first signal ends the run, the second says what is still going on', () => {
  const lines: string[] = [];
  using interrupt = onInterrupt(
    (line) => lines.push(line),
    () => 'heal',
  );
  process.emit('SIGINT', 'SIGINT');
  expect(interrupt.signal.reason).toBeInstanceOf(InterruptError);
  vi.advanceTimersByTime(1000);
  process.emit('SIGINT', 'SIGINT');
  expect(lines).toEqual([
    'SIGINT: ending the run; healing and cleaning up first',
    'still healing and cleaning up: heal',
  ]);
});

test('npm’s echo of a signal counts once', () => {
  const lines: string[] = [];
  using interrupt = onInterrupt(
    (line) => lines.push(line),
    () => 'heal',
  );
  process.emit('SIGINT', 'SIGINT');
  vi.advanceTimersByTime(20);
  process.emit('SIGINT', 'SIGINT');
  expect(lines).toHaveLength(1);
  expect(interrupt.signal.aborted).toBe(true);
});
