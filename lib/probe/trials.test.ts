/**
 * Trials against a Kubernetes API in memory: what they change there, what they answer, what they leave.
 * They mostly wait, so they go side by side, but for two that compare times.
 */
import { expect, test, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { InterruptError } from '../core/errors.ts';
import { runTrials } from './trials.ts';
import { cutDryRun, dryRun } from './dry-run.ts';
import type { FakeStorageApi } from '../../test/support/fake-storage-api.ts';
import type { Behaviour } from '../../test/support/fake-storage-objects.ts';
import { fakeOf, request } from '../../test/support/fake-probe.ts';

/** A trial watches for seven seconds of the clock, beside others. */
vi.setConfig({ testTimeout: 120_000 });

/** Changes of anything but the probe's own namespace, its volumes' attachments excepted. */
const foreign = (api: FakeStorageApi): string[] =>
  api.changes.filter(
    (change) =>
      !/^(POST|DELETE) \/namespaces(\/forcedetach-probe-[0-9a-f]{8}(\/(pods|persistentvolumeclaims)(\/[\w-]+)?)?)?$/.test(
        change,
      ) && !/^DELETE \/volumeattachments\/csi-[0-9a-f]{64}$/.test(change),
  );

test('a driver that cuts, and refuses raw volumes: answered, and nothing left', async () => {
  const { api, clients } = await fakeOf({ refusesBlock: true });
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
  const { api, clients } = await fakeOf({ killsAfterMs: Infinity });
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

test.concurrent.each<[string, Partial<Behaviour>, string, RegExp]>([
  [
    'a next pod that has the volume beside the first one',
    { letsNextIn: true },
    'contested-1',
    /^NEXT_IS_IN: contested-1-b had the volume before any detach$/,
  ],
  [
    'a volume that is used without an attachment',
    { makesNoAttachments: true },
    'kept-1',
    /^NO_ATTACHMENT: pv-kept-1 has no attachment csi-/,
  ],
  [
    'an attachment that somebody else ends',
    { losesAttachments: true },
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

test.concurrent.each([
  ['an interrupt ends it', 0],
  ['an interrupt ends it, while connections are lost', 2],
])('%s, and all that was made is removed', async (_, drops) => {
  const { api, clients } = await fakeOf();
  const over = new AbortController();
  const said: string[] = [];
  const say = (line: string): void => {
    said.push(line);
    if (line === 'removing everything that the probe made') api.drops = drops;
  };
  const ended = runTrials(clients, { ...request, say, signal: over.signal });
  setTimeout(() => over.abort(new InterruptError('INTERRUPTED', 'ended by SIGINT')), 3000);
  await expect(ended).rejects.toMatchObject({ code: 'INTERRUPTED' });
  const left = [...api.things.keys()].filter((path) => path.startsWith('/namespaces'));
  expect(left, said.join('\n')).toEqual([]);
  expect(foreign(api)).toEqual([]);
});

test.concurrent('a class without an attach phase is refused, by a dry run, too', async () => {
  const { api, clients } = await fakeOf({ attachRequired: false });
  const refused = { code: 'NO_ATTACHMENTS' };
  await expect(runTrials(clients, request)).rejects.toMatchObject(refused);
  await expect(dryRun(clients, request)).rejects.toMatchObject(refused);
  expect(api.changes).toEqual([]);
});

test.concurrent('a dry run prints what would be made, and makes nothing', async () => {
  const { api, clients } = await fakeOf();
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

test.concurrent('a namespace is nobody else’s within a watch, nor within a cut that heals late', async () => {
  const { clients } = await fakeOf();
  const leftMs = (text: string): number =>
    Date.parse(/forcedetach\.expires: (\S+)/.exec(text)?.[1] ?? '') - Date.now();
  for (const horizonMs of [7000, 6 * 3_600_000]) {
    expect(leftMs(await dryRun(clients, { ...request, horizonMs }))).toBeGreaterThan(
      horizonMs + 3_000_000,
    );
  }
  const healAfterMs = 3_600_000;
  const text = await cutDryRun(clients, {
    ...{ ...request, healAfterMs, classes: ['fast'], node: 'a', confirmed: undefined },
    ...{ way: 'network', remedy: 'force-delete', volumeMode: 'Filesystem' },
  });
  expect(leftMs(text)).toBeGreaterThan(2 * healAfterMs + 3_600_000);
});
