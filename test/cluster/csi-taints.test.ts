/** Asking an API server for taints, over real TLS: openssl makes the server's certificate. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import { kubernetesObject, kubernetesTaints } from '../../lib/storage/csi/controller.ts';
import type { NodeTaints } from '../../lib/storage/csi/backend.ts';

const folder = mkdtempSync(join(tmpdir(), 'forcedetach-taints-'));
let server: Server;
let taints: NodeTaints;

const taint = { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown' };
const nodes: Readonly<Record<string, object>> = {
  '/api/v1/nodes/tainted': { spec: { taints: [{ ...taint, effect: 'NoExecute' }] } },
  '/api/v1/nodes/plain': { spec: {} },
};

beforeAll(async () => {
  const [key, cert] = [join(folder, 'key'), join(folder, 'ca.crt')];
  const about = ['-subj', '/CN=test', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2'];
  await $`openssl req -x509 -newkey rsa:2048 -nodes -keyout ${key} -out ${cert} ${about}`.quiet();
  writeFileSync(join(folder, 'token'), 'a-token\n');
  const pems = { key: readFileSync(key), cert: readFileSync(cert) };
  server = createServer(pems, ({ url = '', headers }, response) => {
    if (url === '/api/v1/nodes/mute') return;
    const node = nodes[url];
    const known = headers.authorization === 'Bearer a-token';
    response.statusCode = !known ? 401 : node === undefined ? 404 : 200;
    response.end(JSON.stringify(node ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  taints = at(folder);
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true });
});

function at(identity: string): NodeTaints {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('no port');
  return kubernetesTaints(kubernetesObject({ host: '127.0.0.1', port: address.port, identity }));
}

test.each([
  ['tainted', ['node.kubernetes.io/out-of-service']],
  ['plain', []],
  ['deleted', []],
])('the taints of a node that is %s', async (node, keys) => {
  expect(await taints(node)).toEqual(keys);
});

test('no answer within 5 s is an error', async () => {
  await expect(taints('mute')).rejects.toThrow(/abort/i);
});

test('a server that does not know the token is an error', async () => {
  const stranger = join(folder, 'stranger');
  await $`mkdir ${stranger} && cp ${join(folder, 'ca.crt')} ${stranger}`;
  writeFileSync(join(stranger, 'token'), 'another');
  await expect(at(stranger)('plain')).rejects.toThrow(/answered 401/);
});

test('a pod without an identity, or that knows no server, gets an error', async () => {
  await expect(at(join(folder, 'absent'))('plain')).rejects.toThrow(/ENOENT/);
  await expect(kubernetesTaints(kubernetesObject(undefined))('plain')).rejects.toMatchObject({
    code: 'NO_API_SERVER',
  });
});
