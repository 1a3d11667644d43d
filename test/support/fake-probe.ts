/** What tests of the probe ask of a Kubernetes API in memory, which ends with the test file. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { TrialsRequest } from '../../lib/probe/trials.ts';
import { type UserClients, userClients } from '../../lib/core/kubernetes-client.ts';
import { FakeStorageApi } from './fake-storage-api.ts';
import type { Behaviour } from './fake-storage-objects.ts';
import { writeKubeconfig } from './user-kubeconfig.ts';

export const folder = mkdtempSync(join(tmpdir(), 'forcedetach-probe-'));
const apis: FakeStorageApi[] = [];
afterAll(() => {
  for (const api of apis) api.stop();
  rmSync(folder, { recursive: true });
});

/** A driver that cuts a writer off with its detach. */
export const fences = { goneAfterMs: 300, cutAfterMs: 100 };

export async function fakeOf(
  behaviour: Partial<Behaviour> = {},
): Promise<{ readonly api: FakeStorageApi; readonly clients: UserClients }> {
  const api = new FakeStorageApi({ ...fences, ...behaviour });
  apis.push(api);
  const own = mkdtempSync(join(folder, 'fake-'));
  return { api, clients: await userClients('two', writeKubeconfig(own, await api.start())) };
}

/** Adds a namespace, or a claim in one. */
export const labelled = (
  api: FakeStorageApi,
  path: string,
  probe: 'yes' | 'given',
  annotations: Readonly<Record<string, string>> = {},
): void => {
  const labels = { 'forcedetach.probe': probe };
  api.add(path, { metadata: { name: path.split('/').at(-1) ?? '', uid: '', labels, annotations } });
};

export const request: TrialsRequest = {
  ...{ storageClass: 'fast', nodes: ['a', 'b'], trials: 1, volumeMode: 'Filesystem' },
  ...{ size: '1Gi', horizonMs: 7000, image: 'node:24', say: () => undefined },
  signal: new AbortController().signal,
};
