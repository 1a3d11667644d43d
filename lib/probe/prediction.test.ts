/** A probe of what does not answer as a cluster does ends in its time, with an error of ours. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { writeKubeconfig } from '../../test/support/user-kubeconfig.ts';
import { userClients } from '../core/kubernetes-client.ts';
import { predictionFor } from './dry-run.ts';

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

const begins: RequestListener = (_, response) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).write('{"gitVersion":');
const refuses = always(403, '{"kind": "Status"}');
const exec = {
  ...{ apiVersion: 'client.authentication.k8s.io/v1', interactiveMode: 'Never' },
  ...{ command: 'sleep', args: ['20'] },
};

test.each<[string, RequestListener | undefined, object, { readonly exec: object }?]>([
  ['nothing', undefined, unreachable],
  ['a server that accepts and is silent', () => undefined, { cause: { code: 'API_SILENT' } }],
  ['one that begins its answer, and is silent', begins, unreachable],
  [
    'a program for credentials that never ends',
    ...([always(200, '{}'), { cause: { code: 'CREDENTIALS_SILENT' } }, { exec }] as const),
  ],
  ['a page', always(200, '<html>Log in, please</html>', 'text/html'), unreachable],
  ...['{"items": [', '{"hello": "world"}', 'null', '{"items": [null]}'].map(
    (body): [string, RequestListener, object] => [body, always(200, body), unreachable],
  ),
  [
    'one that lets the user read nothing',
    refuses,
    {
      ...{ code: 'CLUSTER_FORBIDDEN', hint: expect.stringContaining('rights') },
      command: `${kubectl} auth can-i get storageclasses.storage.k8s.io`,
    },
  ],
  [
    'one that knows nobody of this name',
    always(401, '{"kind": "Status"}'),
    { code: 'CLUSTER_FORBIDDEN', command: `${kubectl} auth whoami` },
  ],
  [
    'one that is broken',
    always(500, '{"kind": "Status"}'),
    { code: 'CLUSTER_REFUSED', hint: expect.any(String), command: `${kubectl} get events -A` },
  ],
])('what answers is %s', async (_, answer, error, user) => {
  const url = answer === undefined ? 'http://127.0.0.1:1' : await served(answer);
  expect(await probed(url, user)).toMatchObject({ ...unreachable, ...error });
});
