/**
 * What manifests/prevention refuses and lets through, asked of a real API server: first normal work, of which
 * nothing may be refused and no alert may fire, then what takes a volume from a node that may still write.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { V1Node, V1PodSpec } from '@kubernetes/client-node';
import {
  apply,
  describeError,
  kubernetesDefault,
  outOfServiceTaint,
} from '../../lib/core/index.ts';
import { ensureCluster, type Cluster } from '../../lib/kind/cluster.ts';
import { deployDatabase, removeDatabase } from '../../lib/kind/database.ts';
import { diskTool } from '../../lib/kind/disk/disk.ts';
import { $ } from '../../lib/kind/engine/shell.ts';
import { ensureImages, ensureKind } from '../../lib/kind/images/ensure.ts';
import { kubectl as kubectlWords, kubernetesOf } from '../../lib/kind/kubernetes.ts';
import { readManifest } from '../../lib/kind/objects.ts';
import { soleScope } from '../../lib/kind/scope.ts';
import { mysql } from '../../lib/mysql/database.ts';
import { parseScenario } from '../../lib/scenario/scenario.ts';
import { checkAlerts, hasPromtool, scrapeS, type Scrape } from '../support/alert-series.ts';

const minute = 60_000;
const shell = $({ quiet: true });
const scope = soleScope(mysql);
const namespace = scope.namespace;
const volume = 'fd-prevention';
const sizeBytes = 2 * 1024 ** 3;

let cluster: Cluster;

beforeAll(async () => {
  const onProgress = (line: string): void => void process.stderr.write(`${line}\n`);
  const images = await ensureImages({ source: 'auto', kubernetes: kubernetesDefault, onProgress });
  cluster = await ensureCluster({
    ...{ database: mysql, name: 'ct-prevention', images, kind: await ensureKind(), runId: 'test' },
    ...{ workers: 2, graceMs: 10_000, admission: 'fencing-proof' },
  });
  const clients = await cluster.kube();
  await diskTool(cluster.lab, 'create-volume', {
    ...{ volume, mode: 'unfenced', 'size-bytes': sizeBytes },
  });
  const choice = parseScenario({
    ...{ name: 'prevention', question: '?', expected: ['safe'] },
    fault: { kind: 'network-partition' },
  });
  const pods = { image: images.database, driverImage: images.driver, apiHost: 'not asked' };
  await deployDatabase(clients, { ...pods, scope, volumeHandle: volume, sizeBytes, choice });
});

afterAll(async () => {
  try {
    for (const node of cluster.nodes) await cluster.machine(node).reconnect();
    await removeDatabase(await cluster.kube(), { scope });
  } finally {
    await cluster.release();
  }
});

const kubectl = async (...words: readonly string[]): Promise<string> =>
  (await shell`docker exec ${cluster.controlPlane} ${kubectlWords} ${words}`).stdout.trim();

const soon = <T>(assert: () => Promise<T>, timeout = 2 * minute): Promise<T> =>
  vi.waitFor(assert, { timeout, interval: 1000 });

/** Denials so far, of all policies. */
async function denials(): Promise<number> {
  const metrics = await kubectl('get', '--raw', '/metrics');
  return metrics
    .split('\n')
    .filter((line) => line.startsWith('apiserver_validating_admission_policy_check_total{'))
    .filter((line) => line.includes('enforcement_action="deny"'))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

async function podNow(): Promise<{
  readonly name: string;
  readonly node: string;
  readonly uid: string;
}> {
  const { core } = await cluster.kube();
  const pod = await core.readNamespacedPod({ name: 'mysql-0', namespace });
  return {
    name: 'mysql-0',
    node: pod.spec?.nodeName ?? '',
    uid: pod.metadata?.uid ?? '',
  };
}

const served = (before: string): Promise<string> =>
  soon(async () => {
    const { uid } = await podNow();
    expect(uid).not.toBe(before);
    await kubectl('wait', '--for=condition=Ready', 'pod/mysql-0', '--timeout=1s');
    return uid;
  });

async function scrape(): Promise<Scrape> {
  const { core, storage } = await cluster.kube();
  const [nodes, attachments, pods] = await Promise.all([
    core.listNode(),
    storage.listVolumeAttachment(),
    core.listNamespacedPod({ namespace, labelSelector: 'app=mysql' }),
  ]);
  const volumeName = attachments.items[0]?.spec.source.persistentVolumeName ?? 'none';
  const isReady = (node: V1Node): boolean =>
    node.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
  return {
    nodes: new Map(nodes.items.map((node) => [node.metadata?.name ?? '', isReady(node)])),
    attachments: attachments.items.map(({ metadata, spec, status }) => ({
      name: metadata?.name ?? '',
      volume: spec.source.persistentVolumeName ?? '',
      node: spec.nodeName,
      isAttached: status?.attached === true,
    })),
    pods: pods.items.map(({ metadata, spec }) => ({
      ...{ name: metadata?.name ?? '', node: spec?.nodeName ?? '', volume: volumeName },
    })),
    forced: {},
  };
}

test('a day of normal work: nothing is refused, and no alert fires', {
  timeout: 15 * minute,
}, async () => {
  const scrapes: Scrape[] = [];
  const working = new AbortController();
  const scraping = (async (): Promise<void> => {
    while (!working.signal.aborted) {
      scrapes.push(await scrape());
      await sleep(scrapeS * 1000, undefined, { signal: working.signal }).catch(() => undefined);
    }
  })();
  const before = await denials();
  let { uid } = await podNow();

  await kubectl('rollout', 'restart', 'statefulset/mysql');
  uid = await served(uid);

  await kubectl('delete', 'pod', 'mysql-0');
  uid = await served(uid);

  // Each worker is drained, taken out of the cluster, and comes back.
  const deletions: string[] = [];
  for (let round = 0; round < 2; round += 1) {
    const { node } = await podNow();
    await kubectl('drain', node, '--ignore-daemonsets', '--delete-emptydir-data');
    const drainedMs = Date.now();
    // Its kubelet has to report first that it has no volume any more.
    await soon(() => kubectl('delete', 'node', node));
    const waitedS = ((Date.now() - drainedMs) / 1000).toFixed(0);
    deletions.push(`${node} could be deleted ${waitedS} s after its drain`);
    await cluster.machine(node).restartKubelet();
    await soon(async () => expect(await kubectl('get', 'node', node)).toContain(' Ready '));
    uid = await served(uid);
  }
  const early = (await denials()) - before;

  await kubectl('scale', 'statefulset/mysql', '--replicas=0');
  await soon(async () => expect(await kubectl('get', 'pods', '--selector=app=mysql')).toBe(''));
  await kubectl('scale', 'statefulset/mysql', '--replicas=1');
  await served(uid);

  // A namespace with all that is in it, and a forced deletion of what has no claim.
  await kubectl('create', 'namespace', 'short-lived');
  const image = await kubectl(
    'get',
    'pods',
    '-A',
    '-o',
    'jsonpath={.items[0].spec.containers[0].image}',
  );
  await kubectl(
    'run',
    'stateless',
    '--namespace=short-lived',
    `--image=${image}`,
    '--image-pull-policy=Never',
  );
  await kubectl(
    'delete',
    'pod',
    'stateless',
    '--namespace=short-lived',
    '--force',
    '--grace-period=0',
  );
  await kubectl('delete', 'namespace', 'short-lived');

  working.abort();
  await scraping;
  console.log(deletions.join('; '), `${early} early deletions refused, ${scrapes.length} scrapes`);
  expect((await denials()) - before).toBe(early);
  if (hasPromtool) {
    const ends = Array.from({ length: scrapes.length }, (_, at) => ({
      atS: at * scrapeS,
      alerts: [],
    }));
    checkAlerts([{ name: 'normal work', scrapes, firing: ends }]);
  }
});

/** `refused`: by the words of a policy; all else as it is, also an expression that fails. */
const refused = async (asked: Promise<unknown>): Promise<string> => {
  try {
    await asked;
    return 'admitted';
  } catch (error) {
    const words = describeError(error);
    return /denied request: (?!expression)/.test(words) ? 'refused' : words;
  }
};

const annotate = (what: string, name: string, ageS: number): Promise<string> => {
  const at = new Date(Date.now() - ageS * 1000).toISOString().replace(/\.\d+Z$/, 'Z');
  return kubectl(
    'annotate',
    '--overwrite',
    what,
    name,
    `forcedetach.dev/fenced=${at} power off, by a test`,
  );
};

test('without a proof that is younger than the failure nothing takes the volume', {
  timeout: 10 * minute,
}, async () => {
  const clients = await cluster.kube();
  const { core } = clients;
  const { name, node } = await podNow();
  const dryRun = 'All';
  // With a body, a deletion's query is not read.
  const forced = { gracePeriodSeconds: 0, dryRun: [dryRun] };
  const ask = {
    'force-delete': () => core.deleteNamespacedPod({ name, namespace, body: forced }),
    'force-delete a collection': () =>
      core.deleteCollectionNamespacedPod({
        ...{ namespace, labelSelector: 'app=mysql', body: forced },
      }),
    evict: () =>
      core.createNamespacedPodEviction({
        ...{ name, namespace, dryRun },
        body: { metadata: { name, namespace }, deleteOptions: forced },
      }),
    'delete node': () => core.deleteNode({ name: node, dryRun }),
    'out-of-service': async () => {
      const { spec } = await core.readNode({ name: node });
      const value = [...(spec?.taints ?? []), outOfServiceTaint];
      await core.patchNode({
        name: node,
        dryRun,
        body: [{ op: 'add', path: '/spec/taints', value }],
      });
    },
    'plain delete': () => core.deleteNamespacedPod({ name, namespace, dryRun }),
  };
  const answers = async (): Promise<Record<string, string>> => {
    const all: Record<string, string> = {};
    for (const [what, request] of Object.entries(ask)) all[what] = await refused(request());
    return all;
  };
  const none = {
    'force-delete': 'refused',
    'force-delete a collection': 'refused',
    evict: 'refused',
    'delete node': 'refused',
    'out-of-service': 'refused',
    'plain delete': 'admitted',
  };
  const before = await denials();
  expect(await answers()).toEqual(none);
  expect((await denials()) - before).toBe(5);
  const kubernetes = kubernetesOf(clients, cluster.controlPlane, scope);
  const refusal = { code: 'ADMISSION_REFUSED' };
  await expect(kubernetes.forceDelete(await podNow())).rejects.toMatchObject(refusal);
  await expect(kubernetes.deleteNode(node)).rejects.toMatchObject(refusal);
  await expect(kubernetes.taint(node, outOfServiceTaint)).rejects.toMatchObject(refusal);
  // A Ready node is not fenced, whatever is stated.
  await annotate('node', node, 0);
  await annotate('pod', name, 0);
  expect(await answers()).toEqual(none);

  await cluster.machine(node).disconnect();
  await soon(async () => expect(await kubectl('get', 'node', node)).toContain('NotReady'));
  const ready = '{.status.conditions[?(@.type=="Ready")].status}';
  const asks = ['get', 'pod', name, '--output', `jsonpath=${ready}`];
  await soon(async () => expect(await kubectl(...asks)).toBe('False'));
  await annotate('node', node, 3600);
  await annotate('pod', name, 3600);
  expect(await answers()).toEqual(none);

  await annotate('node', node, 0);
  await annotate('pod', name, 0);
  expect(await answers()).toEqual({
    ...none,
    'force-delete': 'admitted',
    'force-delete a collection': 'admitted',
    'delete node': 'admitted',
    'out-of-service': 'admitted',
  });

  // For real: the pod GC may then do what it does.
  const { uid } = await podNow();
  await kubectl('delete', 'pod', name, '--wait=false');
  await kubernetes.taint(node, outOfServiceTaint);
  await served(uid);
  await kubernetes.untaint(node, outOfServiceTaint.key);
  await cluster.machine(node).reconnect();
});

/** Created and not kept. */
const created = async (spec: object): Promise<string> => {
  const { core } = await cluster.kube();
  const body = { metadata: { name: 'asked' }, spec: spec as V1PodSpec };
  return refused(core.createNamespacedPod({ namespace, dryRun: 'All', body }));
};
const containers = [{ name: 'one', image: 'any' }];
const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'any' } }];

test('grace periods, access modes and a RuntimeClass', { timeout: 5 * minute }, async () => {
  const clients = await cluster.kube();
  const files = ['grace-period', 'read-write-once-pod', 'runtime-class'];
  await apply(
    clients,
    (await Promise.all(files.map((file) => readManifest(`prevention/${file}.yaml`, {})))).flat(),
  );
  const without = { terminationGracePeriodSeconds: 0, containers };
  await soon(async () => expect(await created({ ...without, volumes })).toBe('refused'));
  expect(await created(without)).toBe('admitted');
  expect(await created({ containers, volumes })).toBe('admitted');

  const claim = (storageClassName: string, mode: string): Promise<string> =>
    refused(
      clients.core.createNamespacedPersistentVolumeClaim({
        ...{ namespace, dryRun: 'All' },
        body: {
          metadata: { name: 'asked' },
          spec: {
            storageClassName,
            accessModes: [mode],
            resources: { requests: { storage: '1Gi' } },
          },
        },
      }),
    );
  await soon(async () => expect(await claim('database', 'ReadWriteOnce')).toBe('refused'));
  expect(await claim('database', 'ReadWriteOncePod')).toBe('admitted');
  expect(await claim('another', 'ReadWriteOnce')).toBe('admitted');

  // It replaces the 300 s that the API server gives every pod.
  const pod = await clients.core.createNamespacedPod({
    ...{ namespace, dryRun: 'All' },
    body: {
      metadata: { name: 'asked' },
      spec: { containers, runtimeClassName: 'stays-on-lost-node' },
    },
  });
  const tolerations = pod.spec?.tolerations?.map(({ key, tolerationSeconds }) => [
    key,
    tolerationSeconds,
  ]);
  expect(tolerations?.toSorted()).toEqual([
    ['node.kubernetes.io/not-ready', undefined],
    ['node.kubernetes.io/unreachable', undefined],
  ]);
});

test('of two pods on a lost node the one of the RuntimeClass stays', {
  timeout: 5 * minute,
}, async () => {
  const { core } = await cluster.kube();
  const read = (name: string) => core.readNamespacedPod({ name, namespace });
  const image = (await read('mysql-0')).spec?.containers[0]?.image ?? '';
  const [node = ''] = cluster.nodes;
  const start = (name: string, spec: Partial<V1PodSpec>): Promise<unknown> =>
    core.createNamespacedPod({
      namespace,
      body: {
        metadata: { name },
        spec: {
          ...{ nodeName: node, terminationGracePeriodSeconds: 1, ...spec },
          containers: [
            { name: 'one', image, imagePullPolicy: 'Never', command: ['sleep', 'infinity'] },
          ],
        },
      },
    });
  const isEnding = async (name: string): Promise<boolean> =>
    (await read(name)).metadata?.deletionTimestamp !== undefined;
  await start('stays', { runtimeClassName: 'stays-on-lost-node' });
  const effect = 'NoExecute';
  const tolerated = { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect };
  await start('goes', { tolerations: [{ ...tolerated, tolerationSeconds: 10 }] });
  await kubectl('wait', '--for=condition=Ready', 'pod/stays', 'pod/goes', '--timeout=60s');

  await cluster.machine(node).disconnect();
  await soon(async () => expect(await isEnding('goes')).toBe(true));
  await sleep(minute / 2);
  expect(await isEnding('stays')).toBe(false);

  await cluster.machine(node).reconnect();
  await kubectl('delete', 'pod', 'stays', 'goes', '--ignore-not-found', '--wait=true');
});
