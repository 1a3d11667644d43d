/** What a sweep leaves on a cluster is found again and removed, unless it is alive or not ours. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { V1Namespace } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { writeKubeconfig } from '../../../test/support/user-kubeconfig.ts';
import { type UserClients, userClients } from '../../core/kubernetes-client.ts';
import { makeSweepNamespace, newSweepNamespace, reapSweeps } from './namespace.ts';

const folder = mkdtempSync(join(tmpdir(), 'forcedetach-place-'));
const kubeconfig = join(folder, 'config.json');
/** What the API server has. */
const namespaces = new Map<string, V1Namespace>();
const server = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk: Buffer) => (body += chunk.toString()));
  request.on('end', () => {
    const name = request.url?.split('/')[4] ?? '';
    if (request.method === 'POST') {
      const made = JSON.parse(body) as V1Namespace;
      namespaces.set(made.metadata?.name ?? '', made);
    }
    const found = request.method === 'POST' ? JSON.parse(body) : namespaces.get(name);
    if (request.method === 'DELETE') namespaces.delete(name);
    response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found ?? { kind: 'Status', code: 404 }));
  });
});
const notes = (): string[] => readdirSync(join(folder, 'forcedetach-sweeps'));
/** The Kubernetes client is slow to import where the machine is busy. */
const importMs = 120_000;
const silent = (): void => undefined;
let access: UserClients;

beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', () => resolve()));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  writeKubeconfig(folder, url);
  vi.stubEnv('XDG_STATE_HOME', folder);
  vi.stubEnv('KUBECONFIG', kubeconfig);
  access = await userClients(undefined);
}, importMs);
afterAll(() => {
  vi.unstubAllEnvs();
  server.close();
  rmSync(folder, { recursive: true });
});

/** As a killed process leaves it: a note, and nobody who holds its lock. */
function leave(namespace: string): void {
  const note = { namespace, context: 'one', kubeconfig };
  writeFileSync(join(folder, 'forcedetach-sweeps', `${namespace}.json`), JSON.stringify(note));
}

test('a living sweep keeps its namespace, and takes it away at its end', async () => {
  const namespace = newSweepNamespace();
  const made = await makeSweepNamespace(access, namespace, silent);
  expect(namespaces.get(namespace)?.metadata?.labels).toMatchObject({
    'forcedetach.sweep': 'yes',
    'pod-security.kubernetes.io/enforce': 'restricted',
  });
  expect(notes()).toEqual([`${namespace}.json`]);
  expect(await reapSweeps(silent)).toEqual({ removed: [], resisted: [] });
  expect(namespaces.size).toBe(1);
  await made.remove();
  expect(namespaces.size).toBe(0);
  expect(notes()).toEqual([]);
});

test('what a killed sweep left is removed by its note', async () => {
  const namespace = newSweepNamespace();
  namespaces.set(namespace, {
    metadata: { name: namespace, labels: { 'forcedetach.sweep': 'yes' } },
  });
  leave(namespace);
  expect(await reapSweeps(silent)).toEqual({ removed: [namespace], resisted: [] });
  expect(namespaces.size).toBe(0);
  expect(notes()).toEqual([]);
});

test('a namespace without our label stays, whatever a note says', async () => {
  namespaces.set('default', { metadata: { name: 'default' } });
  leave('default');
  await reapSweeps(silent);
  expect([...namespaces.keys()]).toEqual(['default']);
});

test.each([
  '',
  '{"namespace": "forcedetach-sw',
  'null',
  '{"namespace": "../../x", "context": "one"}',
])('a note that holds %j is told, and the others are looked at all the same', async (text) => {
  leave('later');
  const cut = join(folder, 'forcedetach-sweeps', 'cut.json');
  writeFileSync(cut, text);
  const { removed, resisted } = await reapSweeps(silent);
  expect(removed).toEqual(['later']);
  expect(resisted).toContainEqual({
    namespace: cut,
    why: expect.stringContaining('NOTE_INVALID') as string,
  });
  rmSync(cut);
});

test('where the cluster is gone, the note stays and says why', async () => {
  leave('elsewhere');
  server.close();
  server.closeAllConnections();
  const { removed, resisted } = await reapSweeps(silent);
  expect(removed).toEqual([]);
  expect(resisted).toMatchObject([{ namespace: 'elsewhere' }]);
  expect(notes()).toEqual(['elsewhere.json']);
});
