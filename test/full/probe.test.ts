/**
 * The probe on a stranger's cluster: with just the rights that it prints, as a Job, killed, and with a node
 * cut off. What was there before is there after, object by object and on the nodes' own hosts.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesObject } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { $ } from '../../lib/kind/engine/shell.ts';
import { kubeClients } from '../../lib/core/kubernetes-client.ts';
import { loadImages } from '../../lib/kind/create/kind-command.ts';
import type { Certificate } from '../../lib/probe/certificate.ts';
import { ensureKind } from '../../lib/kind/images/ensure.ts';
import { describePodShell } from './pod-shell.ts';
import {
  applyText,
  limitedAccount,
  probeFolder,
  removeText,
  runProbe,
  settled,
  startProbe,
  strangersLab,
  whenWritten,
  type Lab,
} from './probe-lab.ts';
import { changedSince, stateOf } from './probe-state.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await strangersLab('probed');
});
afterAll(() => lab[Symbol.asyncDispose]());

const place = 'storage-team';
const brief = ['--run', '--trials', '1', '--horizon', '60s', '--volume-mode', 'Filesystem'];
const asked = (storageClass: string): string[] => [
  ...['-s', storageClass, '--image', lab.image, '--nodes', lab.workers.join(',')],
];
const rbac = async (args: readonly string[]): Promise<string> =>
  (await runProbe(lab.kubeconfig, ['--rbac', ...args])).output;

test('with just the rights that it prints, and a role for just its attachments, it answers', async () => {
  const { kubeconfig, username } = await limitedAccount(lab);
  const folder = probeFolder();
  const [grant, out] = ['grant.yaml', 'certificate.json'].map((name) => join(folder, name));
  const words = ['--namespace', place, '--grant', grant ?? ''];
  const rights = await rbac([...words, '--account', username]);
  await applyText(lab.clients, rights);
  await settled(lab, place);
  const before = await stateOf(lab);

  const probe = startProbe(kubeconfig, [
    ...asked('basalt'),
    ...brief,
    ...words,
    '--out',
    out ?? '',
  ]);
  const role = await Promise.race([
    whenWritten(grant ?? '', 240_000),
    probe.ended.then(({ output }) => Promise.reject(new Error(output))),
  ]);
  await applyText(lab.clients, role);
  const { code, output } = await probe.ended;
  expect(code, output).toBe(0);
  expect(JSON.parse(readFileSync(out ?? '', 'utf8'))).toMatchObject({ answer: { mode: 'fenced' } });
  await removeText(lab.clients, role);
  expect((await changedSince(lab, before)).join('\n')).toBe('');

  await removeText(lab.clients, rights);
});

/** A pod on the node with a volume of its own; the name of that one's attachment. */
async function attached(namespace: string, [, nodeName]: Lab['workers']): Promise<string> {
  const { core, storage } = lab.clients;
  const name = 'holder';
  const resources = { requests: { storage: '64Mi' } };
  const claim = { accessModes: ['ReadWriteOnce'], storageClassName: 'basalt', resources };
  await core.createNamespacedPersistentVolumeClaim({
    namespace,
    body: { metadata: { name }, spec: claim },
  });
  const containers = [{ name, image: lab.image, command: ['sleep', 'infinity'] }].map((each) => ({
    ...{ ...each, imagePullPolicy: 'IfNotPresent' },
    volumeMounts: [{ name, mountPath: '/data' }],
  }));
  const volumes = [{ name, persistentVolumeClaim: { claimName: name } }];
  const spec = { nodeName, containers, volumes, terminationGracePeriodSeconds: 1 };
  await core.createNamespacedPod({ namespace, body: { metadata: { name }, spec } });
  for (const endMs = Date.now() + 180_000; Date.now() < endMs; await sleep(500)) {
    const bound = await core.readNamespacedPersistentVolumeClaim({ namespace, name });
    const volume = bound.spec?.volumeName;
    const { items } = await storage.listVolumeAttachment();
    const found = items.find(
      (each) => volume !== undefined && each.spec.source.persistentVolumeName === volume,
    );
    if (found?.status?.attached === true) return found.metadata?.name ?? '';
  }
  throw new Error(`nothing was attached in ${namespace}`);
}

test('with the rights that it prints an account ends attachments of its namespace, and no others', async () => {
  const { kubeconfig, username } = await limitedAccount(lab);
  const rights = await rbac(['--namespace', place, '--account', username]);
  await applyText(lab.clients, rights);
  await settled(lab, place);
  const before = await stateOf(lab);
  const { storage } = await kubeClients(kubeconfig);
  const ends = (name: string): Promise<string> =>
    storage.deleteVolumeAttachment({ name, dryRun: 'All' }).then(
      () => 'yes',
      (error: unknown) => String(error),
    );
  const theirs = await attached('default', lab.workers);
  expect(await ends(theirs)).toContain(`may end attachments of volumes of ${place} only`);
  expect(await ends(await attached(place, lab.workers))).toBe('yes');

  for (const namespace of ['default', place]) {
    await lab.clients.core.deleteNamespacedPod({ namespace, name: 'holder' });
    await lab.clients.core.deleteNamespacedPersistentVolumeClaim({ namespace, name: 'holder' });
  }
  expect((await changedSince(lab, before)).join('\n')).toBe('');
  await removeText(lab.clients, rights);
});

test.each([
  ['amber', 'unfenced'],
  ['basalt', 'fenced'],
])(
  'a pod of %s that is deleted by force ends before the next one has the volume',
  async (name, mode) => {
    const before = await stateOf(lab);
    const out = join(probeFolder(), 'certificate.json');
    const words = ['--run', '--trials', '3', '--volume-mode', 'Filesystem', '--out', out];
    const beganMs = Date.now();
    const { code, output } = await runProbe(lab.kubeconfig, [...asked(name), ...words]);
    console.log(output, `${(Date.now() - beganMs) / 1000} s`);
    expect(code, output).toBe(0);
    const { answer, forceDeleted } = JSON.parse(readFileSync(out, 'utf8')) as Certificate;
    expect(answer.modes).toContain(mode);
    expect(forceDeleted).toMatchObject({
      counts: { 'ended-first': 3 },
      next: { in: 3 },
      notes: [],
    });
    const last = forceDeleted?.figures.find(({ what }) => what.includes('the last write'));
    // SIGKILL comes two seconds after SIGTERM.
    expect(last?.leastMs).toBeGreaterThan(1500);
    expect((await changedSince(lab, before)).join('\n')).toBe('');
  },
);

test('an account that may only read has the prediction, and hears what the rest needs', async () => {
  const { kubeconfig, username } = await limitedAccount(lab);
  const [clusterRole, binding] = parseAllDocuments(await rbac(['--account', username])).map(
    (each) => each.toJS() as KubernetesObject & { rules: { verbs: string[] }[] },
  );
  if (clusterRole === undefined) throw new Error('there is a role');
  clusterRole.rules = clusterRole.rules.filter(({ verbs }) =>
    verbs.every((verb) => verb === 'get' || verb === 'list'),
  );
  const rights = [clusterRole, binding].map((object) => stringify(object)).join('---\n');
  await applyText(lab.clients, rights);
  const before = await stateOf(lab);

  const read = await runProbe(kubeconfig, ['-s', 'basalt']);
  expect(read.code, read.output).toBe(0);
  expect(read.output).toContain('This is a prediction from documents and settings.');
  for (const right of ['create namespaces', 'create pods', 'delete volumeattachments']) {
    expect(read.output).toContain(right);
  }
  const tried = await runProbe(kubeconfig, [...asked('basalt'), ...brief]);
  expect(tried).toMatchObject({ code: 4, output: expect.stringContaining('CLUSTER_FORBIDDEN') });
  expect(tried.output).toContain('you may not create namespaces');
  expect((await changedSince(lab, before)).join('\n')).toBe('');

  await removeText(lab.clients, rights);
});

test('killed in the middle of trials, then cleaned up: all is as it was', async () => {
  const before = await stateOf(lab);
  const probe = startProbe(lab.kubeconfig, [...asked('amber'), ...brief]);
  await probe.said(/namespace (forcedetach-probe-\w+)/);
  const [, namespace = ''] = /namespace (forcedetach-probe-\w+)/.exec(probe.output()) ?? [];
  const { core, storage } = lab.clients;
  // Once its writers have volumes, and some of them an attachment that was deleted.
  const attachments = async () => (await storage.listVolumeAttachment()).items;
  const deleted = ({ metadata }: KubernetesObject) => metadata?.deletionTimestamp !== undefined;
  for (let most = 0, least = Infinity; least >= most || most === 0; await sleep(200)) {
    const there = (await attachments()).filter((each) => !deleted(each)).length;
    [most, least] = [Math.max(most, there), there];
  }
  probe.kill('SIGKILL');
  await probe.ended;
  const pods = await core.listNamespacedPod({ namespace });
  expect(pods.items.length).toBeGreaterThan(0);

  const cleaned = await runProbe(lab.kubeconfig, ['--clean']);
  expect(cleaned.output).toContain(`Removed: ${namespace}.`);
  expect((await changedSince(lab, before)).join('\n')).toBe('');
});

test('with just the rights of a cut a node is cut off and heals itself: all is as it was', async () => {
  const { kubeconfig, username } = await limitedAccount(lab);
  const out = join(probeFolder(), 'cut.json');
  const [node] = lab.workers;
  const cut = ['--cut', node, '--remedy', 'out-of-service', '--namespace', place];
  const rights = await rbac([...cut, '--account', username]);
  await applyText(lab.clients, rights);
  await settled(lab, place);
  const before = await stateOf(lab, true);

  const words = ['--yes', node, '--heal-after', '90s', '--volume-mode', 'Filesystem', '--out', out];
  const files = ['--junit', `${out}.xml`];
  const { code, output } = await runProbe(kubeconfig, [
    ...asked('amber'),
    ...cut,
    ...words,
    ...files,
  ]);
  expect(code, output).toBe(0);
  expect(JSON.parse(readFileSync(out, 'utf8'))).toMatchObject({
    ...{ findings: [{ outcome: 'both-wrote' }], record: { checked: true } },
  });
  expect(readFileSync(`${out}.xml`, 'utf8')).toContain('failures="0"');
  expect((await changedSince(lab, before, { wasAway: true })).join('\n')).toBe('');

  await removeText(lab.clients, rights);
});

describePodShell(() => lab);

test('a Job inside the cluster answers, from one image', async () => {
  const image = (await $({ quiet: true })`node scripts/probe-image.ts`).stdout.trim();
  const load = { name: lab.name, images: [image], signal: undefined };
  await loadImages(await ensureKind(), load);
  const before = await stateOf(lab);
  const words = [...asked('basalt').slice(0, 2), '--nodes', lab.workers.join(','), ...brief];
  const printed = await runProbe(lab.kubeconfig, [...words, '--print-job', '--image', image]);
  await applyText(lab.clients, reachable(printed.output, await controlPlaneAddress()));
  const namespace = 'forcedetach-probe';
  const { core } = lab.clients;
  const podOf = async () =>
    (
      await core.listNamespacedPod({
        ...{ namespace, labelSelector: 'batch.kubernetes.io/job-name=forcedetach-probe' },
      })
    ).items[0];
  const isOver = (phase = ''): boolean => /Succeeded|Failed/.test(phase);
  for (const endMs = Date.now() + 600_000; Date.now() < endMs; await sleep(1000)) {
    if (isOver((await podOf())?.status?.phase)) break;
  }
  const name = (await podOf())?.metadata?.name ?? '';
  const log = await core.readNamespacedPodLog({ name, namespace });
  const line = log.split('\n').find((each) => each.startsWith('{'));
  expect(JSON.parse(line ?? log)).toMatchObject({ answer: { mode: 'fenced' } });
  expect((await podOf())?.status?.phase).toBe('Succeeded');
  await removeText(lab.clients, printed.output);
  expect((await changedSince(lab, before)).join('\n')).toBe('');
});

async function controlPlaneAddress(): Promise<string> {
  const { status } = await lab.clients.core.readNode({ name: `${lab.name}-control-plane` });
  return status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '';
}

/** Nothing serves the `kubernetes` service on this cluster: the API server is named by hand. */
function reachable(text: string, host: string): string {
  const env = [
    { name: 'KUBERNETES_SERVICE_HOST', value: host },
    { name: 'KUBERNETES_SERVICE_PORT', value: '6443' },
  ];
  return parseAllDocuments(text)
    .map((each) => each.toJS() as { kind: string; spec?: { template: Template } })
    .map((object) => {
      const [container] =
        object.kind === 'Job' ? (object.spec?.template.spec.containers ?? []) : [];
      if (container !== undefined) container['env'] = env;
      return stringify(object);
    })
    .join('---\n');
}

interface Template {
  readonly spec: { readonly containers: Record<string, unknown>[] };
}
