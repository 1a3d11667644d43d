/** Where a run is at home, what it leaves there and what killed ones left, on an API in memory. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { cleanGiven, cleanUp } from './clean.ts';
import { atHome, closeHome, ownerNow } from './home.ts';
import { runTrials, waitForGrant } from './trials.ts';
import { attachmentName } from './objects.ts';
import { mustBeLimited, policyAnnotation, policyName } from './rights.ts';
import type { UserClients } from '../core/kubernetes-client.ts';
import type { FakeStorageApi } from '../../test/support/fake-storage-api.ts';
import type { Behaviour } from '../../test/support/fake-storage-objects.ts';
import { fakeOf, folder, labelled, request as ofOwn } from '../../test/support/fake-probe.ts';

let api: FakeStorageApi;
afterEach(() => vi.restoreAllMocks());

const namespace = 'storage-team';
const given = `/namespaces/${namespace}`;
const home = { namespace, isGiven: true };
const request = { ...ofOwn, namespace };
const { say, signal } = request;

async function clientsOf(behaviour: Partial<Behaviour> = {}): Promise<UserClients> {
  const fake = await fakeOf(behaviour);
  api = fake.api;
  return fake.clients;
}

/** The same with a namespace that was made for probes. */
async function clientsIn(behaviour: Partial<Behaviour> = {}): Promise<UserClients> {
  const clients = await clientsOf(behaviour);
  labelled(api, given, 'given');
  return clients;
}

/** Each look at the clock is so much later. */
function hurry(stepMs: number): void {
  let atMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (atMs += stepMs));
}

test('in a given namespace: answered, and it stays with what others have in it', async () => {
  const clients = await clientsIn();
  const theirs = `/namespaces/${namespace}/pods/theirs`;
  api.add(theirs, { metadata: { name: 'theirs', uid: '', labels: {} } });
  expect(await runTrials(clients, request)).toMatchObject({ answer: { mode: 'fenced' } });
  const left = [...api.things.keys()].filter((path) => path.startsWith('/namespaces'));
  expect(left).toEqual([`/namespaces/${namespace}`, theirs]);
  expect(api.changes.filter((change) => !change.includes(`/namespaces/${namespace}/`))).toEqual(
    api.changes.filter((change) => change.startsWith('DELETE /volumeattachments/csi-')),
  );
});

test('a role for just the attachments is written once the volumes are there, and waited for', async () => {
  const clients = await clientsIn({ forbids: 'delete volumeattachments' });
  const grant = join(folder, 'grant.yaml');
  const ended = runTrials(clients, { ...request, grant });
  while (!existsSync(grant)) await sleep(50);
  expect(api.changes.filter((change) => /pods|DELETE/.test(change))).toEqual([]);
  const [role, binding] = parseAllDocuments(readFileSync(grant, 'utf8')).map((each) => each.toJS());
  expect(role).toMatchObject({
    kind: 'ClusterRole',
    rules: [
      {
        ...{ apiGroups: ['storage.k8s.io'], resources: ['volumeattachments'], verbs: ['delete'] },
        resourceNames: ['kept-1', 'idle-1', 'contested-1'].map((name) =>
          attachmentName(`h-${name}`, 'disk.acme.example', 'a'),
        ),
      },
    ],
  });
  expect(binding).toMatchObject({
    subjects: [{ kind: 'ServiceAccount', name: 'prober', namespace: 'default' }],
  });
  api.granted = true;
  expect(await ended).toMatchObject({ answer: { mode: 'fenced' } });
});

test('where nobody grants it the right that is missing is named', async () => {
  const clients = await clientsOf({ forbids: 'delete volumeattachments' });
  hurry(600_000);
  const file = join(folder, 'late.yaml');
  const granting = waitForGrant(clients, ['csi-1'], { home, file, say, signal });
  await expect(granting).rejects.toMatchObject({
    ...{ code: 'GRANT_TIMED_OUT', message: expect.stringMatching(/15 minutes.*delete volumeatt/) },
    command: expect.stringContaining(`apply -f ${file}`),
  });
});

test.each([undefined, 'yes'] as const)('not given: label %s', async (label) => {
  const code = 'NAMESPACE_NOT_GIVEN';
  const clients = await clientsOf();
  if (label !== undefined) labelled(api, given, label);
  await expect(runTrials(clients, request)).rejects.toMatchObject({ code });
  await expect(closeHome(clients, home)).rejects.toMatchObject({ code });
  expect(api.changes).toEqual([]);
});

test('pods of a cut have to enter their node: a namespace that forbids it is named', async () => {
  const clients = await clientsIn();
  const stay = { clients, home, say, watchMs: 0 };
  const staying = atHome({ ...stay, security: 'privileged' }, () => Promise.resolve({}));
  await expect(staying).rejects.toMatchObject({
    ...{
      code: 'NAMESPACE_TOO_STRICT',
      message: `pods in ${namespace} may not enter their node, which a cut needs`,
    },
    command: expect.stringContaining('pod-security.kubernetes.io/enforce=privileged'),
  });
  expect(api.changes).toEqual([]);
});

test('a namespace that says that a policy limits its account needs that policy', async () => {
  const clients = await clientsOf();
  const name = policyName(namespace);
  labelled(api, given, 'given', { [policyAnnotation]: name });
  const binding = `/validatingadmissionpolicybindings/${name}`;
  const others = { policyName: 'another', validationActions: ['Deny'] };
  const warns = { policyName: name, validationActions: ['Warn'] };
  for (const spec of [undefined, others, warns]) {
    if (spec !== undefined) api.add(binding, { metadata: { name, uid: '' }, spec });
    await expect(runTrials(clients, request)).rejects.toMatchObject({ code: 'POLICY_MISSING' });
  }
  expect(api.changes).toEqual([]);
  api.add(binding, {
    metadata: { name, uid: '' },
    spec: { ...warns, validationActions: ['Deny'] },
  });
  await expect(mustBeLimited(clients, namespace)).resolves.toBeUndefined();
});

test('what a killed probe left in it is named, not taken; --clean takes it', async () => {
  const clients = await clientsIn();
  const path = `${given}/persistentvolumeclaims/kept-1`;
  labelled(api, path, 'yes');
  await expect(runTrials(clients, request)).rejects.toMatchObject({
    ...{ code: 'NAMESPACE_IN_USE', message: expect.stringContaining('kept-1') },
    command: `npx forcedetach probe --clean --namespace ${namespace}`,
  });
  expect(api.changes).toEqual([]);
  await closeHome(clients, home);
  expect(api.changes).toEqual([`DELETE ${path}`]);
});

const mark = 'node.kubernetes.io/out-of-service';

test('a mark of a killed cut goes from its node with the rest; nobody else’s does', async () => {
  const clients = await clientsIn();
  const taint = (value: string) => ({ key: mark, value, effect: 'NoExecute' });
  api.taints.set('a', [taint(namespace), taint('theirs')]);
  api.taints.set('b', [taint('forcedetach-probe-0a1b2c3d')]);
  await closeHome(clients, home);
  expect(api.taints.get('a')).toEqual([taint('theirs')]);
  expect(api.changes).toEqual(['PATCH /nodes/a']);
});

test('a mark that may not be taken away: which right is missing', async () => {
  const clients = await clientsIn({ forbids: 'patch nodes' });
  api.taints.set('a', [{ key: mark, value: namespace, effect: 'NoExecute' }]);
  await expect(closeHome(clients, home)).rejects.toMatchObject({
    ...{ code: 'CLUSTER_FORBIDDEN', message: expect.stringContaining('patch nodes/a') },
  });
});

const [stuck, other, gone] = ['a', 'b', 'c'].map(
  (letter) => `forcedetach-probe-${letter.repeat(8)}`,
) as [string, string, string];
const past = { 'forcedetach.expires': '2020-01-01T00:00:00Z' };
const space = (name: string, annotations = past): void =>
  labelled(api, `/namespaces/${name}`, 'yes', annotations);

function volume(name: string, namespace: string, claim: string, uid = 'gone'): void {
  const claimRef = { namespace, name: claim, uid };
  api.add(`/persistentvolumes/${name}`, { spec: { claimRef }, status: { phase: 'Failed' } });
}

const attachment = (name: string, persistentVolumeName: string): void =>
  void api.add(`/volumeattachments/${name}`, { spec: { source: { persistentVolumeName } } });

test('a namespace that stays keeps no other one from being removed', async () => {
  const clients = await clientsOf({ keeps: stuck });
  space(stuck);
  space(other);
  hurry(100_000);
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
  const clients = await clientsIn();
  const { metadata } = api.add(`${given}/persistentvolumeclaims/kept-2`);
  volume('used', namespace, 'kept-2', metadata.uid);
  volume('retained', namespace, 'data');
  await expect(cleanGiven(clients, namespace)).resolves.toBeUndefined();
  volume('pv-9', namespace, 'cut-1');
  attachment('csi-9', 'pv-9');
  await expect(cleanGiven(clients, namespace)).rejects.toMatchObject(named);
  expect(api.changes).toEqual([]);
});

test('what a living probe has in a given namespace stays; once it is dead it goes', async () => {
  const clients = await clientsIn();
  const path = `${given}/persistentvolumeclaims/kept-1`;
  const owned = (owner: string): void => labelled(api, path, 'yes', { 'forcedetach.owner': owner });
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

test('what a killed probe left goes by its label; all else stays', async () => {
  const clients = await clientsOf();
  api.add('/namespaces/default', { metadata: { name: 'default', uid: '', annotations: past } });
  space('forcedetach-probe-old');
  space('forcedetach-probe-new', { 'forcedetach.expires': '2999-01-01T00:00:00Z' });
  expect(await cleanUp(clients, say)).toEqual({
    removed: ['forcedetach-probe-old'],
    left: [{ name: 'forcedetach-probe-new', why: expect.stringContaining('another machine') }],
  });
  expect(api.changes).toEqual(['DELETE /namespaces/forcedetach-probe-old']);
});
