/** What killed probes left: all of it is tried, what outlives its namespace is named, a mark goes from its node. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { cleanGiven, cleanUp } from './clean.ts';
import { ownerNow } from './home.ts';
import { type UserClients, userClients } from '../user-cluster.ts';
import { FakeStorageApi } from '../../test/support/fake-storage-api.ts';
import { writeKubeconfig } from '../../test/support/user-kubeconfig.ts';

const folder = mkdtempSync(join(tmpdir(), 'forcedetach-clean-'));
let api: FakeStorageApi;
afterEach(() => {
  vi.restoreAllMocks();
  api.stop();
});
afterAll(() => rmSync(folder, { recursive: true }));

async function clientsOf(keeps?: string): Promise<UserClients> {
  api = new FakeStorageApi({ goneAfterMs: 1, cutAfterMs: 1, ...(keeps && { keeps }) });
  return userClients('two', writeKubeconfig(folder, await api.start()));
}

const [stuck, other, gone] = ['a', 'b', 'c'].map(
  (letter) => `forcedetach-probe-${letter.repeat(8)}`,
) as [string, string, string];
const say = (): void => undefined;

function space(name: string): void {
  const labels = { 'forcedetach.probe': 'yes' };
  const annotations = { 'forcedetach.expires': '2020-01-01T00:00:00Z' };
  api.add(`/namespaces/${name}`, { metadata: { name, uid: '', labels, annotations } });
}

function volume(name: string, namespace: string, claim: string, uid = 'gone'): void {
  const claimRef = { namespace, name: claim, uid };
  api.add(`/persistentvolumes/${name}`, { spec: { claimRef }, status: { phase: 'Failed' } });
}

const attachment = (name: string, persistentVolumeName: string): void =>
  void api.add(`/volumeattachments/${name}`, { spec: { source: { persistentVolumeName } } });

test('a namespace that stays keeps no other one from being removed', async () => {
  const clients = await clientsOf(stuck);
  space(stuck);
  space(other);
  let atMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (atMs += 100_000));
  const { removed, error } = await cleanUp(clients, say);
  expect(removed).toEqual([other]);
  expect(error).toMatchObject({
    ...{ code: 'PROBE_STAYS', message: expect.stringContaining(`the namespace ${stuck} is`) },
    command: expect.stringMatching(new RegExp(`get all,pvc,events -n ${stuck}$`)),
  });
});

const named = {
  ...{ code: 'PROBE_STAYS', message: 'the volume pv-9 is Failed, its attachment csi-9 is there' },
  hint: expect.stringContaining('finalizer'),
  command: expect.stringMatching(/describe persistentvolume\/pv-9 volumeattachment\/csi-9$/),
};

test('a volume that outlives its namespace is named at each look, with its attachment', async () => {
  const clients = await clientsOf();
  volume('pv-9', gone, 'kept-1');
  attachment('csi-9', 'pv-9');
  volume('theirs', 'storage-team', 'kept-1');
  attachment('csi-1', 'theirs');
  const cleaned = await cleanUp(clients, say);
  expect(cleaned).toMatchObject({ removed: [], left: [], error: named });
  expect(api.changes).toEqual([]);
});

test('so is one in a given namespace whose claim is gone; others’ are theirs', async () => {
  const clients = await clientsOf();
  const namespace = 'storage-team';
  const labels = { 'forcedetach.probe': 'given' };
  api.add(`/namespaces/${namespace}`, { metadata: { name: namespace, uid: '', labels } });
  const { metadata } = api.add(`/namespaces/${namespace}/persistentvolumeclaims/kept-2`);
  volume('used', namespace, 'kept-2', metadata.uid);
  volume('retained', namespace, 'data');
  await expect(cleanGiven(clients, namespace)).resolves.toBeUndefined();
  volume('pv-9', namespace, 'cut-1');
  attachment('csi-9', 'pv-9');
  await expect(cleanGiven(clients, namespace)).rejects.toMatchObject(named);
  expect(api.changes).toEqual([]);
});

test('what a living probe has in a given namespace stays; once it is dead it goes', async () => {
  const clients = await clientsOf();
  const namespace = 'storage-team';
  const given = { 'forcedetach.probe': 'given' };
  api.add(`/namespaces/${namespace}`, { metadata: { name: namespace, uid: '', labels: given } });
  const path = `/namespaces/${namespace}/persistentvolumeclaims/kept-1`;
  const owned = (owner: string): void =>
    void api.add(path, {
      metadata: {
        ...{ name: 'kept-1', uid: '', labels: { 'forcedetach.probe': 'yes' } },
        annotations: { 'forcedetach.owner': owner },
      },
    });
  owned(ownerNow());
  await expect(cleanGiven(clients, namespace)).rejects.toMatchObject({
    ...{ code: 'NAMESPACE_IN_USE', message: 'a probe runs in storage-team: kept-1' },
    command: expect.stringContaining('get pods,pvc -n storage-team'),
  });
  expect(api.changes).toEqual([]);
  owned(ownerNow().replace(/^\d+ \d+/, '1 1'));
  await cleanGiven(clients, namespace);
  expect(api.changes).toEqual([`DELETE ${path}`]);
});

test('a mark whose namespace is gone goes from its node, and nobody else’s', async () => {
  const clients = await clientsOf();
  const taint = (value: string) => ({ key: 'node.kubernetes.io/out-of-service', value });
  api.taints.set('a', [taint(gone), taint('nodeshutdown')]);
  expect(await cleanUp(clients, say)).toEqual({ removed: [`the mark of ${gone}`], left: [] });
  expect(api.taints.get('a')).toEqual([taint('nodeshutdown')]);
});
