/**
 * Trials against a Kubernetes API in memory: what they change there, what they answer, what they leave.
 * They mostly wait, so they go side by side, but for two that compare times.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { InterruptError } from '../errors.ts';
import { cleanUp } from './clean.ts';
import { type TrialsRequest, runTrials } from './trials.ts';
import { cutDryRun, dryRun } from './dry-run.ts';
import { type UserClients, userClients } from '../user-cluster.ts';
import { FakeStorageApi } from '../../test/support/fake-storage-api.ts';
import type { Behaviour } from '../../test/support/fake-storage-objects.ts';
import { writeKubeconfig } from '../../test/support/user-kubeconfig.ts';

const folder = mkdtempSync(join(tmpdir(), 'forcedetach-trials-'));
/** A trial watches for seven seconds of the clock, beside others. */
vi.setConfig({ testTimeout: 120_000 });

const apis: FakeStorageApi[] = [];
afterAll(() => {
  for (const api of apis) api.stop();
  rmSync(folder, { recursive: true });
});

interface Fake {
  readonly api: FakeStorageApi;
  readonly clients: UserClients;
}

async function fakeOf(behaviour: Behaviour): Promise<Fake> {
  const api = new FakeStorageApi(behaviour);
  apis.push(api);
  const own = mkdtempSync(join(folder, 'fake-'));
  return { api, clients: await userClients('two', writeKubeconfig(own, await api.start())) };
}

const request: TrialsRequest = {
  ...{ storageClass: 'fast', nodes: ['a', 'b'], trials: 1, volumeMode: 'Filesystem' },
  ...{ size: '1Gi', horizonMs: 7000, image: 'node:24', say: () => undefined },
  signal: new AbortController().signal,
};

/** Changes of anything but the probe's own namespace, its volumes' attachments excepted. */
const foreign = (api: FakeStorageApi): string[] =>
  api.changes.filter(
    (change) =>
      !/^(POST|DELETE) \/namespaces(\/forcedetach-probe-[0-9a-f]{8}(\/(pods|persistentvolumeclaims)(\/[\w-]+)?)?)?$/.test(
        change,
      ) && !/^DELETE \/volumeattachments\/csi-[0-9a-f]{64}$/.test(change),
  );

test('a driver that cuts, and refuses raw volumes: answered, and nothing left', async () => {
  const { api, clients } = await fakeOf({ goneAfterMs: 300, cutAfterMs: 100, refusesBlock: true });
  const certificate = await runTrials(clients, { ...request, volumeMode: 'auto' });
  expect(certificate).toMatchObject({
    schemaVersion: 1,
    driver: { name: 'disk.acme.example' },
    noBlock: 'block volumes are not supported',
    plan: { volumeMode: 'Filesystem' },
    answer: {
      mode: 'fenced',
      counts: { kept: { cut: 1 }, idle: { cut: 1 }, contested: { cut: 1 } },
      next: { in: 1 },
    },
    forceDeleted: { counts: { 'ended-first': 1 }, next: { in: 1 }, notes: [] },
  });
  const [kept, , , forced] = certificate.trials;
  const watchedMs = ({ deleteAskedMs = 0, watchEndedMs = 0 } = {}): number =>
    watchEndedMs - deleteAskedMs;
  // Its pod and its volume are gone while the others are watched.
  expect(watchedMs(forced)).toBeLessThan(watchedMs(kept) - 1000);
  expect(api.changes).toContainEqual(expect.stringMatching(/^DELETE .*\/pods\/force-deleted-1-b$/));
  expect(certificate.findings.map(({ name }) => name)).toEqual(['kept-1', 'idle-1', 'contested-1']);
  expect(certificate.planHash).toMatch(/^[0-9a-f]{16}$/);
  expect(foreign(api)).toEqual([]);
  expect([...api.things.keys()].filter((path) => !path.startsWith('/volumeatt'))).toEqual([]);
});

test.concurrent('a detach that hangs, with the next pod outside', async () => {
  const behaviour = { goneAfterMs: Infinity, cutAfterMs: Infinity, refusesNext: true };
  const { api, clients } = await fakeOf(behaviour);
  expect(await runTrials(clients, request)).toMatchObject({
    answer: {
      mode: 'pending-while-busy',
      counts: { kept: { pending: 1 }, idle: { pending: 1 }, contested: { pending: 1 } },
      next: { barred: 1 },
    },
  });
  expect(foreign(api)).toEqual([]);
});

test('a kubelet that leaves a pod that is gone alone: both wrote, and the mode is the same', async () => {
  const behaviour = { goneAfterMs: 300, cutAfterMs: 100, killsAfterMs: Infinity };
  const { api, clients } = await fakeOf(behaviour);
  const certificate = await runTrials(clients, request);
  expect(certificate).toMatchObject({
    answer: { mode: 'fenced', notes: [] },
    forceDeleted: { counts: { overlapped: 1 }, next: { in: 1 } },
  });
  const [finding] = certificate.forceDeleted?.findings ?? [];
  expect(finding?.overlapAcks).toBeGreaterThan(5);
  expect(finding?.overlapSlots).toBeGreaterThan(5);
  expect(foreign(api)).toEqual([]);
});

const cuts = { goneAfterMs: 300, cutAfterMs: 100 };

test.concurrent.each<[string, Behaviour, string, RegExp]>([
  [
    'a next pod that has the volume beside the first one',
    { ...cuts, letsNextIn: true },
    'contested-1',
    /^NEXT_IS_IN: contested-1-b had the volume before any detach$/,
  ],
  [
    'a volume that is used without an attachment',
    { ...cuts, makesNoAttachments: true },
    'kept-1',
    /^NO_ATTACHMENT: pv-kept-1 has no attachment csi-/,
  ],
  [
    'an attachment that somebody else ends',
    { ...cuts, losesAttachments: true },
    'kept-1',
    /^NO_ATTACHMENT: the attachment was gone before it was deleted$/,
  ],
])('%s: undecided, and why', async (_, behaviour, trial, why) => {
  const { clients } = await fakeOf(behaviour);
  const { findings, trials } = await runTrials(clients, request);
  const found = findings.find(({ name }) => name === trial);
  expect(found).toMatchObject({ outcome: 'undecided', why: expect.stringMatching(why) });
  expect(trials.find(({ name }) => name === trial)).not.toHaveProperty('deleteAskedMs');
});

test.concurrent('an interrupt ends it, and all that was made is removed', async () => {
  const { api, clients } = await fakeOf({ goneAfterMs: 300, cutAfterMs: 100 });
  const over = new AbortController();
  const ended = runTrials(clients, { ...request, signal: over.signal });
  setTimeout(() => over.abort(new InterruptError('INTERRUPTED', 'ended by SIGINT')), 3000);
  await expect(ended).rejects.toMatchObject({ code: 'INTERRUPTED' });
  expect([...api.things.keys()].filter((path) => path.startsWith('/namespaces'))).toEqual([]);
  expect(foreign(api)).toEqual([]);
});

test.concurrent('a right that is missing is named before anything is made', async () => {
  const { api, clients } = await fakeOf({
    ...{ goneAfterMs: 300, cutAfterMs: 100, forbids: 'delete volumeattachments' },
  });
  await expect(runTrials(clients, request)).rejects.toMatchObject({
    code: 'CLUSTER_FORBIDDEN',
    message: expect.stringContaining('delete volumeattachments.storage.k8s.io'),
  });
  expect(api.changes).toEqual([]);
});

test.concurrent('a class without an attach phase is refused, with what that means', async () => {
  const { api, clients } = await fakeOf({ attachRequired: false, goneAfterMs: 1, cutAfterMs: 1 });
  await expect(runTrials(clients, request)).rejects.toMatchObject({ code: 'NO_ATTACHMENTS' });
  expect(api.changes).toEqual([]);
});

test.concurrent('what a killed probe left goes by its label; all else stays', async () => {
  const { api, clients } = await fakeOf({ goneAfterMs: 1, cutAfterMs: 1 });
  const space = (name: string, labels: Record<string, string>, expires: string): void =>
    void api.add(`/namespaces/${name}`, {
      metadata: { name, uid: '', labels, annotations: { 'forcedetach.expires': expires } },
    });
  const past = '2020-01-01T00:00:00Z';
  space('default', {}, past);
  space('forcedetach-probe-old', { 'forcedetach.probe': 'yes' }, past);
  space('forcedetach-probe-new', { 'forcedetach.probe': 'yes' }, '2999-01-01T00:00:00Z');
  expect(await cleanUp(clients, () => undefined)).toEqual({
    removed: ['forcedetach-probe-old'],
    left: [{ name: 'forcedetach-probe-new', why: expect.stringContaining('another machine') }],
  });
  expect(api.changes).toEqual(['DELETE /namespaces/forcedetach-probe-old']);
});

test.concurrent('a dry run prints what would be made, and makes nothing', async () => {
  const { api, clients } = await fakeOf({ goneAfterMs: 300, cutAfterMs: 100 });
  const text = await dryRun(clients, { ...request, trials: 3 });
  expect(api.changes.filter((change) => !change.includes('accessreviews'))).toEqual([]);
  const objects = parseAllDocuments(text).map(
    (document) => document.toJS() as { readonly kind: string; readonly metadata: object } | null,
  );
  const named = objects.flatMap((object) =>
    object === null ? [] : [[object.kind, (object.metadata as { readonly name: string }).name]],
  );
  expect(named).toEqual([
    ['ClusterRole', 'forcedetach-probe'],
    ['ClusterRoleBinding', 'forcedetach-probe'],
    ['Namespace', 'forcedetach-probe-00000000'],
    ...['kept-1', 'idle-1', 'contested-1', 'force-deleted-1'].flatMap((name) => [
      ['PersistentVolumeClaim', name],
      ['Pod', `${name}-a`],
      ['Pod', `${name}-b`],
    ]),
  ]);
  expect(text).toContain('# each run has its own namespace name; 6 more claims');
});

test.concurrent.each([7000, 6 * 3_600_000])(
  'a namespace is nobody else’s within a watch of %i ms',
  async (horizonMs) => {
    const { clients } = await fakeOf({ goneAfterMs: 300, cutAfterMs: 100 });
    const text = await dryRun(clients, { ...request, horizonMs });
    const [, expires = ''] = /forcedetach\.expires: (\S+)/.exec(text) ?? [];
    expect(Date.parse(expires) - Date.now()).toBeGreaterThan(horizonMs + 3_000_000);
  },
);

test.concurrent('nor within a cut: a node may be late to heal, and a driver to let go', async () => {
  const { clients } = await fakeOf({ goneAfterMs: 300, cutAfterMs: 100 });
  const healAfterMs = 3_600_000;
  const { volumeMode: _, ...asked } = request;
  const text = await cutDryRun(clients, {
    ...{ ...asked, healAfterMs, classes: ['fast'], node: 'a', confirmed: undefined },
    ...{ way: 'network', remedy: 'force-delete', volumeMode: 'Filesystem' },
  });
  const [, expires = ''] = /forcedetach\.expires: (\S+)/.exec(text) ?? [];
  expect(Date.parse(expires) - Date.now()).toBeGreaterThan(2 * healAfterMs + 3_600_000);
});

test.concurrent('a dry run refuses what trials refuse', async () => {
  const { clients } = await fakeOf({ attachRequired: false, goneAfterMs: 1, cutAfterMs: 1 });
  await expect(dryRun(clients, request)).rejects.toMatchObject({ code: 'NO_ATTACHMENTS' });
});
