/** A probe of what does not answer as a cluster does ends in its time, with an error of ours. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { writeKubeconfig } from '../../test/support/user-kubeconfig.ts';
import { userClients } from '../user-cluster.ts';
import { predictionFor } from './prediction.ts';

const folder = mkdtempSync(join(tmpdir(), 'forcedetach-no-cluster-'));
let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Of each call; the probe's own is longer. */
const timeoutMs = 500;

async function served(answer: RequestListener): Promise<string> {
  server = createServer(answer);
  await new Promise<void>((resolve) => void server?.listen(0, '127.0.0.1', () => resolve()));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const always =
  (status: number, body: string, type = 'application/json'): RequestListener =>
  (_, response) =>
    response.writeHead(status, { 'content-type': type }).end(body);

async function probed(url: string, user?: Readonly<Record<string, unknown>>): Promise<unknown> {
  const clients = await userClients('two', writeKubeconfig(folder, url, user), timeoutMs);
  const asked = {
    ...{ storageClass: 'c', nodes: undefined, trials: 5, volumeMode: 'Block' as const },
    ...{ size: '1Gi', horizonMs: 100_000, image: 'node:24' },
  };
  const beganMs = performance.now();
  const error = await predictionFor(clients, asked).catch((thrown: unknown) => thrown);
  expect(performance.now() - beganMs).toBeLessThan(10_000);
  return error;
}

const kubectl = `KUBECONFIG=${join(folder, 'config.json')} kubectl --context two`;
const unreachable = {
  ...{ code: 'CLUSTER_UNREACHABLE', exitCode: 4, hint: expect.stringContaining('--context') },
  command: `${kubectl} cluster-info`,
};

test('a server that accepts and is silent', async () => {
  const error = await probed(await served(() => undefined));
  expect(error).toMatchObject({ ...unreachable, cause: { code: 'API_SILENT' } });
});

test('one that begins its answer, and is silent', async () => {
  const begins: RequestListener = (_, response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).write('{"gitVersion":');
  expect(await probed(await served(begins))).toMatchObject(unreachable);
});

test('nobody is there', async () => {
  expect(await probed('http://127.0.0.1:1')).toMatchObject(unreachable);
});

test('a program for credentials that never ends', async () => {
  const apiVersion = 'client.authentication.k8s.io/v1';
  const exec = { apiVersion, command: 'sleep', args: ['20'], interactiveMode: 'Never' };
  const url = await served(always(200, '{}'));
  const cause = { code: 'CREDENTIALS_SILENT' };
  expect(await probed(url, { exec })).toMatchObject({ ...unreachable, cause });
});

test.each([
  ['a page', '<html>Log in, please</html>', 'text/html'],
  ['half a document', '{"items": [', 'application/json'],
  ['a document of something else', '{"hello": "world"}', 'application/json'],
  ['nothing', 'null', 'application/json'],
  ['a list of nothing', '{"items": [null]}', 'application/json'],
])('one that answers with %s', async (_, body, type) => {
  expect(await probed(await served(always(200, body, type)))).toMatchObject(unreachable);
});

test('one that lets the user read nothing', async () => {
  expect(await probed(await served(always(403, '{"kind": "Status"}')))).toMatchObject({
    ...{ code: 'CLUSTER_FORBIDDEN', exitCode: 4, hint: expect.stringContaining('rights') },
    command: `${kubectl} auth can-i get storageclasses.storage.k8s.io`,
  });
});

test('one that knows nobody of this name', async () => {
  expect(await probed(await served(always(401, '{"kind": "Status"}')))).toMatchObject({
    ...{ code: 'CLUSTER_FORBIDDEN', exitCode: 4, hint: expect.stringContaining('--context') },
    command: `${kubectl} auth whoami`,
  });
});

test('one that is broken', async () => {
  expect(await probed(await served(always(500, '{"kind": "Status"}')))).toMatchObject({
    ...{ code: 'CLUSTER_REFUSED', exitCode: 4, hint: expect.any(String) },
    command: `${kubectl} get events -A`,
  });
});
