import { expect, test } from 'vitest';
import { tryRun } from './engine.ts';

test('a command that is ended by its timeout has failed', { timeout: 30_000 }, async () => {
  const command = ['sh', '-c', 'trap "exit 0" TERM; sleep 20 & wait'];
  expect((await tryRun(command, { timeoutMs: 100 })).exitCode).toBe(-1);
});

test('one that ends in time says by itself how', async () => {
  expect((await tryRun(['sh', '-c', 'exit 3'], { timeoutMs: 60_000 })).exitCode).toBe(3);
});
