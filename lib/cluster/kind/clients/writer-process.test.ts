/** How a writer process ends: in good order only when it was asked to. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { readSegment } from '../../../history/segment-reader.ts';
import type { FromWriter, StartMessage } from './writer-messages.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'forcedetach-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

async function startWriter(): Promise<ChildProcess> {
  const child = fork(fileURLToPath(new URL('writer-process.ts', import.meta.url)), {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const start: StartMessage = {
    type: 'start',
    spec: { client: 'inside', connections: 1, rate: 1, seed: 's', readEveryMs: 500 },
    ...{ transferEvery: 0, seed: 's', directory, segment: 'writer-inside', originNs: '0' },
  };
  child.send(start);
  const path = join(directory, 'writer-inside.hist');
  await vi.waitFor(() => expect(existsSync(path)).toBe(true), { timeout: 15_000 });
  return child;
}

it('ends well when asked, and with an error when something else ends it', async () => {
  const asked = await startWriter();
  asked.send({ type: 'stop' });
  expect(await once(asked, 'exit')).toEqual([0, null]);

  rmSync(directory, { recursive: true });
  directory = mkdtempSync(join(tmpdir(), 'forcedetach-'));
  const left = await startWriter();
  left.kill('SIGTERM');
  expect(await once(left, 'exit')).toEqual([1, null]);
});

it('says at its end what it has written, as its last word', async () => {
  const child = await startWriter();
  const heard: FromWriter[] = [];
  child.on('message', (message: FromWriter) => heard.push(message));
  child.send({ type: 'stop' });
  await once(child, 'close');
  const endOf = (segment: string): unknown => readSegment(directory, segment).end;
  const segments = {
    'writer-inside': endOf('writer-inside'),
    'reads-inside': endOf('reads-inside'),
  };
  expect(segments['writer-inside']).toBeDefined();
  expect(heard.at(-1)).toEqual({ type: 'written', segments });
});
