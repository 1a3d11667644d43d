/** How a writer process ends: in good order only when it was asked to. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, vi } from 'vitest';
import type { StartMessage } from './writer-messages.ts';

async function startWriter(): Promise<ChildProcess> {
  const directory = mkdtempSync(join(tmpdir(), 'forcedetach-'));
  const child = fork(fileURLToPath(new URL('writer-process.ts', import.meta.url)), {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const start: StartMessage = {
    type: 'start',
    spec: { client: 'inside', connections: 1, rate: 1, seed: 's' },
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

  const left = await startWriter();
  left.kill('SIGTERM');
  expect(await once(left, 'exit')).toEqual([1, null]);
}, 60_000);
