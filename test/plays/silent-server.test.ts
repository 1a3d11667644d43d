/** A server that accepts and says nothing holds nobody up. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type ListenOptions, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { nodesReady } from '../../lib/kind/create/create-cluster.ts';
import { kubeClients } from '../../lib/core/kubernetes-client.ts';
import { mysql } from '../../lib/mysql/database.ts';

const folder = mkdtempSync(join(tmpdir(), 'fd-silent-'));
const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
  rmSync(folder, { recursive: true });
});

/** Takes connections, reads what comes, and never answers. */
async function silent(at: ListenOptions): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => undefined).resume());
  server.listen(at);
  await once(server, 'listening');
  server.unref();
  servers.push(server);
  return server;
}

async function silentApi(timeoutMs: number): ReturnType<typeof kubeClients> {
  const { port } = (await silent({ port: 0, host: '127.0.0.1' })).address() as AddressInfo;
  const path = join(folder, `kubeconfig-${port}`);
  const cluster = { name: 'c', cluster: { server: `https://127.0.0.1:${port}` } };
  const context = { name: 'x', context: { cluster: 'c', user: 'u' } };
  const users = [{ name: 'u', user: {} }];
  const config = { clusters: [cluster], contexts: [context], users, 'current-context': 'x' };
  writeFileSync(path, JSON.stringify(config));
  return kubeClients(path, timeoutMs);
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const beganMs = performance.now();
  await work();
  return (performance.now() - beganMs) / 1000;
}

test('a call of the Kubernetes API ends', async () => {
  const { core, objects } = await silentApi(500);
  const silence = { code: 'API_SILENT' };
  const ask = (): Promise<void> => expect(core.listNode()).rejects.toMatchObject(silence);
  expect(await seconds(ask)).toBeLessThan(5);
  const object = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } };
  const read = (): Promise<void> => expect(objects.read(object)).rejects.toMatchObject(silence);
  expect(await seconds(read)).toBeLessThan(5);
});

test('a wait ends in its own time, though its look does not', async () => {
  const clients = await silentApi(60_000);
  const wait = (): Promise<void> =>
    expect(nodesReady(clients, 500)).rejects.toMatchObject({ code: 'TIMED_OUT' });
  expect(await seconds(wait)).toBeLessThan(5);
});

test('a wait ends at its abort, though its look does not', async () => {
  const clients = await silentApi(60_000);
  const end = new AbortController();
  const waiting = nodesReady(clients, 60_000, end.signal);
  setTimeout(() => end.abort(new Error('enough')), 200);
  const wait = (): Promise<void> => expect(waiting).rejects.toThrow('enough');
  expect(await seconds(wait)).toBeLessThan(5);
});

test('so do the clients of the database', async () => {
  const databaseServer = await mysql.real.server();
  const socketPath = join(folder, 'mysql.sock');
  await silent({ path: socketPath });
  const session = (): Promise<void> =>
    expect(databaseServer.connect({ socketPath, connectTimeoutMs: 300 })).rejects.toThrow();
  expect(await seconds(session)).toBeLessThan(5);
  const schema = (): Promise<void> =>
    expect(databaseServer.prepareSchema({ get: () => socketPath })).rejects.toThrow();
  expect(await seconds(schema)).toBeLessThan(10);
});
