/** A namespace that somebody made for probes, and rights that name what they are for, on an API in memory. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { atHome, closeHome } from './home.ts';
import { type TrialsRequest, runTrials, waitForGrant } from './trials.ts';
import { attachmentName } from './objects.ts';
import { homeNeeds, mustBeLimited, policyAnnotation, policyName, trialNeeds } from './rights.ts';
import { type UserClients, userClients } from '../user-cluster.ts';
import { FakeStorageApi } from '../../test/support/fake-storage-api.ts';
import type { Behaviour } from '../../test/support/fake-storage-objects.ts';
import { writeKubeconfig } from '../../test/support/user-kubeconfig.ts';

const folder = mkdtempSync(join(tmpdir(), 'forcedetach-home-'));
let api: FakeStorageApi;
afterEach(() => api.stop());
afterAll(() => rmSync(folder, { recursive: true }));

const namespace = 'storage-team';
const fences = { goneAfterMs: 300, cutAfterMs: 100 };

async function clientsOf(behaviour: Behaviour): Promise<UserClients> {
  api = new FakeStorageApi(behaviour);
  return userClients('two', writeKubeconfig(folder, await api.start()));
}

const give = (labels: Record<string, string> = { 'forcedetach.probe': 'given' }): void =>
  void api.add(`/namespaces/${namespace}`, { metadata: { name: namespace, uid: '', labels } });

const request: TrialsRequest = {
  ...{ storageClass: 'fast', nodes: ['a', 'b'], trials: 1, volumeMode: 'Filesystem', namespace },
  ...{ size: '1Gi', horizonMs: 7000, image: 'node:24', say: () => undefined },
  signal: new AbortController().signal,
};
test('in a given namespace: answered, and it stays with what others have in it', async () => {
  const clients = await clientsOf(fences);
  give();
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
  const clients = await clientsOf({ ...fences, forbids: 'delete volumeattachments' });
  give();
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
  const clients = await clientsOf({ ...fences, forbids: 'delete volumeattachments' });
  let atMs = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (atMs += 600_000));
  const file = join(folder, 'late.yaml');
  const home = { namespace, isGiven: true };
  const { say, signal } = request;
  const granting = waitForGrant(clients, ['csi-1'], { home, file, say, signal });
  await expect(granting).rejects.toMatchObject({
    ...{ code: 'GRANT_TIMED_OUT', message: expect.stringMatching(/15 minutes.*delete volumeatt/) },
    command: expect.stringContaining(`apply -f ${file}`),
  });
  clock.mockRestore();
});

test.each<[string, Record<string, string> | undefined]>([
  ['NAMESPACE_NOT_GIVEN', undefined],
  ['NAMESPACE_NOT_GIVEN', { 'forcedetach.probe': 'yes' }],
])('%s: labels %o', async (code, labels) => {
  const clients = await clientsOf(fences);
  if (labels !== undefined) give(labels);
  await expect(runTrials(clients, request)).rejects.toMatchObject({ code });
  await expect(closeHome(clients, { namespace, isGiven: true })).rejects.toMatchObject({ code });
  expect(api.changes).toEqual([]);
});

test('pods of a cut have to enter their node: a namespace that forbids it is named', async () => {
  const clients = await clientsOf(fences);
  give();
  const home = { namespace, isGiven: true };
  const stay = { clients, home, say: () => undefined, watchMs: 0 };
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
  const clients = await clientsOf(fences);
  const name = policyName(namespace);
  const labels = { 'forcedetach.probe': 'given' };
  const annotations = { [policyAnnotation]: name };
  api.add(`/namespaces/${namespace}`, {
    metadata: { name: namespace, uid: '', labels, annotations },
  });
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
  const clients = await clientsOf(fences);
  give();
  const labels = { 'forcedetach.probe': 'yes' };
  const path = `/namespaces/${namespace}/persistentvolumeclaims/kept-1`;
  api.add(path, { metadata: { name: 'kept-1', uid: '', labels } });
  await expect(runTrials(clients, request)).rejects.toMatchObject({
    ...{ code: 'NAMESPACE_IN_USE', message: expect.stringContaining('kept-1') },
    command: `npx forcedetach probe --clean --namespace ${namespace}`,
  });
  expect(api.changes).toEqual([]);
  await closeHome(clients, { namespace, isGiven: true });
  expect(api.changes).toEqual([`DELETE ${path}`]);
});

const mark = 'node.kubernetes.io/out-of-service';

test('a mark of a killed cut goes from its node with the rest; nobody else’s does', async () => {
  const clients = await clientsOf(fences);
  give();
  const taint = (value: string) => ({ key: mark, value, effect: 'NoExecute' });
  api.taints.set('a', [taint(namespace), taint('theirs')]);
  api.taints.set('b', [taint('forcedetach-probe-0a1b2c3d')]);
  await closeHome(clients, { namespace, isGiven: true });
  expect(api.taints.get('a')).toEqual([taint('theirs')]);
  expect(api.changes).toEqual(['PATCH /nodes/a']);
});

test('a mark that may not be taken away: which right is missing', async () => {
  const clients = await clientsOf({ ...fences, forbids: 'patch nodes' });
  give();
  api.taints.set('a', [{ key: mark, value: namespace, effect: 'NoExecute' }]);
  await expect(closeHome(clients, { namespace, isGiven: true })).rejects.toMatchObject({
    ...{ code: 'CLUSTER_FORBIDDEN', message: expect.stringContaining('patch nodes/a') },
  });
});

const own = trialNeeds({ namespace: 'n', isGiven: false });
const given = homeNeeds({ namespace, isGiven: true });
const words = [...own, ...given].map(({ verb, resource, subresource }) =>
  [verb, [resource, subresource].filter(Boolean).join('/')].join(' '),
);

test.each([...new Set(words)])('without the right to %s nothing is made', async (forbids) => {
  const clients = await clientsOf({ ...fences, forbids });
  give();
  const { namespace: _, ...ownRequest } = request;
  const isOwn = !own.every(({ verb, resource }) => `${verb} ${resource}` !== forbids);
  const asked = isOwn || forbids.includes('log') ? ownRequest : request;
  const [verb, resource = ''] = forbids.split(' ');
  await expect(runTrials(clients, asked)).rejects.toMatchObject({
    code: 'CLUSTER_FORBIDDEN',
    message: expect.stringMatching(new RegExp(`${verb} ${resource.split('/')[0]}`)),
  });
  expect(api.changes).toEqual([]);
});
