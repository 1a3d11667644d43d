/** Clusters that a sweep can't use: each is refused with an error of ours, and a way out. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { writeKubeconfig } from '../../../test/support/user-kubeconfig.ts';
import { mustBeAllowedIn } from './namespace.ts';
import { userClients } from '../../core/kubernetes-client.ts';

const folder = mkdtempSync(join(tmpdir(), 'forcedetach-access-'));
let server: Server | undefined;
afterEach(() => server?.close());
afterAll(() => rmSync(folder, { recursive: true }));

const kubeconfig = (url: string): string => writeKubeconfig(folder, url);

/** An API server that answers reviews as `allowed` says, with this status. */
async function answering(status: number, allowed: (verb: string) => boolean): Promise<string> {
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { spec } = JSON.parse(body) as { spec: { resourceAttributes: { verb: string } } };
      response.writeHead(status, { 'content-type': 'application/json' });
      const answer = { allowed: allowed(spec.resourceAttributes.verb) };
      response.end(JSON.stringify({ kind: 'SelfSubjectAccessReview', spec, status: answer }));
    });
  });
  await new Promise<void>((resolve) => void server?.listen(0, '127.0.0.1', () => resolve()));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('without a kubeconfig', async () => {
  await expect(userClients(undefined, join(folder, 'none'))).rejects.toMatchObject({
    ...{ code: 'KUBECONFIG_MISSING', exitCode: 4 },
    hint: expect.stringContaining('KUBECONFIG'),
  });
});

test('a context that is not there; one that is', async () => {
  const path = kubeconfig('http://127.0.0.1:1');
  await expect(userClients('three', path)).rejects.toMatchObject({
    ...{ code: 'NO_SUCH_CONTEXT', exitCode: 2 },
    hint: expect.stringContaining('one, two'),
  });
  expect((await userClients(undefined, path)).context).toBe('one');
  expect((await userClients('two', path)).context).toBe('two');
});

test('a cluster that does not answer', async () => {
  const access = await userClients('two', kubeconfig('http://127.0.0.1:1'));
  await expect(mustBeAllowedIn(access, 'n')).rejects.toMatchObject({
    ...{ code: 'CLUSTER_UNREACHABLE', exitCode: 4 },
    command: `KUBECONFIG=${join(folder, 'config.json')} kubectl --context two cluster-info`,
  });
});

test('credentials that are refused', async () => {
  const access = await userClients(undefined, kubeconfig(await answering(401, () => false)));
  await expect(mustBeAllowedIn(access, 'n')).rejects.toMatchObject({ code: 'CLUSTER_FORBIDDEN' });
});

test('rights that lack are named', async () => {
  const url = await answering(201, (verb) => verb !== 'create');
  const access = await userClients(undefined, kubeconfig(url));
  await expect(mustBeAllowedIn(access, 'n')).rejects.toMatchObject({
    ...{ code: 'CLUSTER_FORBIDDEN', exitCode: 4 },
    message: expect.stringContaining('create namespaces, create configmaps, create jobs'),
    command: expect.stringMatching(/kubectl --context one auth can-i create namespaces$/),
  });
});
