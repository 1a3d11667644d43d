/** The risk page's checks, on API servers in memory: with and without actors, zones, local volumes and rights. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { writeKubeconfig } from '../../test/support/user-kubeconfig.ts';
import { userClients } from '../core/kubernetes-client.ts';
import { renderRiskHtml } from './published/risk-page.ts';
import { readRisk, riskText, type RiskReport } from './risk.ts';

const folder = mkdtempSync(join(tmpdir(), 'forcedetach-risk-'));
const servers: Server[] = [];
afterEach(() => servers.splice(0).forEach((each) => each.close()));
afterAll(() => rmSync(folder, { recursive: true }));

interface Objects {
  readonly volumes?: readonly object[];
  readonly pods?: readonly object[];
  readonly nodes?: readonly object[];
  readonly classes?: readonly object[];
  readonly drivers?: Readonly<Record<string, object>>;
  readonly deployments?: readonly object[];
  readonly definitions?: readonly object[];
  /** Paths that are refused. */
  readonly forbids?: RegExp;
}

async function riskOf(objects: Objects, asked: string[] = []): Promise<RiskReport> {
  const lists: Readonly<Record<string, readonly object[] | undefined>> = {
    '/api/v1/persistentvolumes': objects.volumes,
    '/api/v1/pods': objects.pods,
    '/api/v1/nodes': objects.nodes,
    '/apis/storage.k8s.io/v1/storageclasses': objects.classes,
    '/apis/storage.k8s.io/v1/csinodes': [],
    '/apis/apps/v1/deployments': objects.deployments,
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions': objects.definitions,
  };
  const server = createServer(({ url = '', method }, response) => {
    const path = url.replace(/\?.*/, '');
    asked.push(path);
    const answer = (status: number, body: object): void =>
      void response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(JSON.stringify(body));
    if (method !== 'GET') return answer(500, { message: 'it only reads' });
    if (objects.forbids?.test(path) === true) return answer(403, { kind: 'Status', code: 403 });
    if (path === '/version') return answer(200, { gitVersion: 'v1.37.2' });
    if (path in lists) return answer(200, { items: lists[path] ?? [] });
    const driver = objects.drivers?.[path.split('/').at(-1) ?? ''];
    if (driver !== undefined) return answer(200, driver);
    return answer(404, { kind: 'Status', code: 404 });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', () => resolve()));
  servers.push(server);
  const { port } = server.address() as AddressInfo;
  const file = writeKubeconfig(folder, `http://127.0.0.1:${port}`);
  return readRisk(await userClients('one', file, 60_000));
}

const volume = (name: string, spec: object) => ({
  metadata: { name },
  spec: {
    ...{ accessModes: ['ReadWriteOnce'], claimRef: { namespace: 'shop', name: `data-${name}` } },
    ...spec,
  },
});
const csi = (driver: string) => ({ csi: { driver, volumeHandle: 'h' } });
const attached = (name: string, attachRequired = true) => ({
  [name]: { metadata: { name }, spec: { attachRequired } },
});
const pod = (name: string, more: { readonly grace?: number; readonly image?: string } = {}) => ({
  metadata: { name, namespace: 'shop' },
  spec: {
    terminationGracePeriodSeconds: more.grace ?? 30,
    containers: [{ name: 'db', image: more.image ?? 'mysql:9.7' }],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'c' } }],
    tolerations: [{ key: 'node.kubernetes.io/unreachable', tolerationSeconds: 300 }],
  },
});
const node = (name: string, zone: string) => ({
  metadata: {
    name,
    labels: { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': zone },
  },
});
const within = (key: string, ...values: string[]) => ({
  nodeAffinity: {
    required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values }] }] },
  },
});

const iscsi = {
  volumes: [volume('one', csi('iscsi.csi.k8s.io'))],
  drivers: attached('iscsi.csi.k8s.io'),
};

test('unfenced storage is at risk as soon as somebody acts, and otherwise somebody has to answer', async () => {
  const alone = await riskOf({ ...iscsi, pods: [pod('mysql-0')] });
  expect(alone.level).toBe('ask');
  expect(riskText(alone)).toContain('until somebody deletes a pod by force');
  const stork = { metadata: { name: 'migrations.stork.libopenstorage.org' } };
  const acting = await riskOf({ ...iscsi, pods: [pod('mysql-0')], definitions: [stork] });
  expect(acting.level).toBe('at risk');
  expect(riskText(acting)).toContain('stork pkg/monitor: migrations.stork.libopenstorage.org');
  const graceless = await riskOf({ ...iscsi, pods: [pod('mysql-0', { grace: 0 })] });
  expect(graceless.level).toBe('at risk');
  expect(riskText(graceless)).toContain('the eviction is a forced deletion');
});

test.each([
  ['ebs.csi.aws.com', 'safe', 'no second node'],
  ['pd.csi.storage.gke.io', 'safe', 'cuts the old node off first'],
  ['rbd.csi.ceph.com', 'ask', 'storage network alone'],
])('%s, with a pod of grace 0: %s', async (driver, level, words) => {
  const found = await riskOf({
    ...{ volumes: [volume('one', csi(driver))], drivers: attached(driver) },
    pods: [pod('mysql-0', { grace: 0 })],
  });
  expect(found.level).toBe(level);
  expect(riskText(found)).toContain(words);
});

test('an in-tree volume has its driver’s line, and a driver that attaches nothing is at risk', async () => {
  const inTree = await riskOf({
    ...{ volumes: [volume('one', { awsElasticBlockStore: { volumeID: 'v' } })] },
    drivers: attached('ebs.csi.aws.com'),
  });
  expect(riskText(inTree)).toContain('1 of ebs.csi.aws.com');
  const nfs = { volumes: [volume('one', csi('nfs.csi.k8s.io'))] };
  expect((await riskOf({ ...nfs, drivers: attached('nfs.csi.k8s.io', false) })).level).toBe(
    'at risk',
  );
  const many = { accessModes: ['ReadWriteMany'], ...csi('pd.csi.storage.gke.io') };
  expect((await riskOf({ volumes: [volume('one', many)] })).level).toBe('at risk');
});

test('a volume of one node is safe, one of a zone with a single node is not taken for that', async () => {
  const nodes = [node('a', 'x'), node('b', 'y')];
  const local = volume('one', { ...csi('own.example'), ...within('kubernetes.io/hostname', 'a') });
  const pods = [pod('mysql-0', { grace: 0 })];
  const drivers = attached('own.example', false);
  const found = await riskOf({ nodes, pods, drivers, volumes: [local] });
  expect(found.level).toBe('safe');
  expect(riskText(found)).toContain('only a reaches it');
  const zonal = volume('one', {
    ...csi('own.example'),
    ...within('topology.kubernetes.io/zone', 'x'),
  });
  const other = await riskOf({ nodes, pods, drivers: attached('own.example'), volumes: [zonal] });
  expect(other.level).toBe('at risk');
});

test('what may not be read is said, and nothing is safe because of it', async () => {
  const blind = await riskOf({ ...iscsi, forbids: /./ });
  expect(blind.level).toBe('unread');
  const withoutPods = await riskOf({ ...iscsi, forbids: /pods$/ });
  expect(withoutPods.level).toBe('unread');
  const unread = withoutPods.lines.filter(({ level }) => level === 'unread');
  expect(unread.map(({ check }) => check)).toEqual(expect.arrayContaining([2, 3, 4, 5]));
  expect(withoutPods.lines.filter(({ check, level }) => check === 3 && level === 'safe')).toEqual(
    [],
  );
});

test.each([
  ...['persistentvolumes', 'pods', 'nodes', 'storageclasses', 'csinodes', 'deployments'],
  'customresourcedefinitions',
])('without the right to list %s a line says so', async (kind) => {
  const { lines } = await riskOf({ ...iscsi, forbids: new RegExp(`/${kind}$`) });
  expect(lines.filter(({ level }) => level === 'unread').map(({ what }) => what)).toContain(
    `list ${kind}`,
  );
});

test('the page shows each check, and escapes what the cluster says', async () => {
  const page = await renderRiskHtml(
    await riskOf({ ...iscsi, pods: [pod('<b>', { image: 'percona:8' })] }),
  );
  expect(page).toContain('5. What the database promises');
  expect(page).not.toContain('<b>');
});

test('volumes of one class are read about once, and a cluster without any has its version', async () => {
  const asked: string[] = [];
  const many = { accessModes: ['ReadWriteMany'], ...csi('iscsi.csi.k8s.io') };
  await riskOf({ ...iscsi, volumes: [...iscsi.volumes, volume('two', many)] }, asked);
  expect(asked.length).toBe(new Set(asked).size);
  expect((await riskOf({})).kubernetes).toBe('v1.37.2');
});
