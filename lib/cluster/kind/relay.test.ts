/** A relay is there when it listens, not when its file is. */
import { once } from 'node:events';
import { linkSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { whenListening } from './relay.ts';

test('a socket that was bound and does not listen yet is waited for', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'forcedetach-relay-'));
  const path = join(folder, 'relay.sock');
  // A link outlives its server: a socket at which nobody listens.
  const before = createServer().listen(join(folder, 'before.sock'));
  await once(before, 'listening');
  linkSync(join(folder, 'before.sock'), path);
  before.close();
  let listening = false;
  const waiting = whenListening(path).then(() => listening);
  await new Promise((resolve) => setTimeout(resolve, 150));
  rmSync(path);
  listening = true;
  const server = createServer((socket) => socket.resume()).listen(path);
  expect(await waiting).toBe(true);
  server.close();
  rmSync(folder, { recursive: true });
});
