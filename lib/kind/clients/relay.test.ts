/** A relay is there when it listens, not when its file is. */
import { once } from 'node:events';
import { linkSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Lab } from '../disk/containers.ts';
import { Relays, whenListening } from './writers.ts';

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

test('nobody but its user can connect: the database behind it asks for no password', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'forcedetach-relay-'));
  const servers: Server[] = [];
  const said: string[] = [];
  const exec = (command: readonly string[]): Promise<string> => {
    said.push(command.join(' '));
    if (command[0] === 'sh') servers.push(createServer().listen(join(folder, 'out-10.0.0.1.sock')));
    return Promise.resolve('1');
  };
  const lab: Partial<Lab> = { exec };
  const relays = new Relays(lab as Lab, folder, 3306);
  await relays.open('outside', { node: 'fd-main-worker', ip: '10.0.0.1' });
  const listen = said.find((command) => command.includes('UNIX-LISTEN')) ?? '';
  expect(listen).toContain(`mode=0600,user=${process.getuid?.()}`);
  for (const server of servers) server.close();
  rmSync(folder, { recursive: true });
});
