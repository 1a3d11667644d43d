import { expect, test } from 'vitest';
import type { ProbeClients } from './clients.ts';
import { driverPods, gatherFacts, type Facts, type NodeFacts } from './facts.ts';
import { planHash, trialPlanOf } from './trial-plan.ts';
import { predictDriver } from './predict.ts';
import { planOrRefusal } from './prediction.ts';
import { mustHaveClass } from './refuse.ts';
import { rulesOf, trialNeeds } from './rights.ts';

const node = (name: string, change: Partial<NodeFacts> = {}): NodeFacts => ({
  ...{ name, ready: true, schedulable: true, controlPlane: false, outOfService: false },
  ...{ kubelet: 'v1.37.2', kernel: '6.1', osImage: 'x', runtime: 'y', bootId: 'z' },
  ...{ hasDriver: true, attachable: undefined },
  ...change,
});

function facts(driver: string, change: Partial<Facts> = {}): Facts {
  const metadata = { name: 'c' };
  return {
    ...{
      cluster: { context: 'k' },
      kubernetes: 'v1.37.2',
      classes: ['c'],
      storageClass: { metadata, provisioner: driver },
    },
    csiDriver: { metadata: { name: driver }, spec: { attachRequired: true } },
    ...{ nodes: [node('a'), node('b')], driverPods: [], controllerManager: undefined, refused: [] },
    ...change,
  };
}

const options = {
  ...{ storageClass: 'c', nodes: undefined, trials: 5, volumeMode: 'Block' as const },
  ...{ size: '1Gi', horizonMs: 100_000, image: 'node:24' },
};
const refusalOf = (asked: Facts, nodes?: readonly [string, string]): string | undefined =>
  planOrRefusal(asked, { ...options, nodes }).refusal?.split('\n')[0];

test.each([
  ['ebs.csi.aws.com', 'pending-while-busy', 'documented'],
  ['rook-ceph.rbd.csi.ceph.com', 'exclusive', 'reported'],
  ['kubernetes.io/no-provisioner', 'local', 'documented'],
  ['disk.vendor.example', undefined, 'not found'],
])('%s is predicted to be %s, %s', (driver, mode, sure) => {
  expect(predictDriver(facts(driver))).toMatchObject({ mode, sure });
});

test('without an attach phase an unknown driver is taken for shared files, inferred', () => {
  const csiDriver = { spec: { attachRequired: false } };
  expect(predictDriver(facts('x', { csiDriver }))).toMatchObject({
    mode: 'shared-file',
    sure: 'inferred',
  });
});

test('what was not allowed is a line that says so', () => {
  const refused = [{ what: 'list pods', why: 'not allowed (403)' }];
  const { lines } = predictDriver(facts('x', { refused }));
  expect(lines).toContainEqual(expect.objectContaining({ what: 'list pods', sure: 'not found' }));
});

test('no such class: those that there are', () => {
  const none = facts('x', { storageClass: undefined });
  expect(() => mustHaveClass(none, options)).toThrow(
    expect.objectContaining({ code: 'NO_SUCH_CLASS', hint: 'choose one with -s: c' }),
  );
  const refused = [{ what: 'get storageclass c', why: 'not allowed (403)' }];
  expect(() => mustHaveClass({ ...none, refused }, options)).toThrow(
    expect.objectContaining({ code: 'CLUSTER_FORBIDDEN' }),
  );
});

test('refusals, each with its code', () => {
  const retains = { metadata: { name: 'c' }, provisioner: 'x', reclaimPolicy: 'Retain' };
  expect(refusalOf(facts('rancher.io/local-path'))).toMatch('LOCAL_VOLUMES');
  expect(refusalOf(facts('x', { csiDriver: undefined }))).toMatch('NO_CSI_DRIVER');
  expect(refusalOf(facts('x', { storageClass: retains }))).toMatch('VOLUMES_STAY');
  expect(refusalOf(facts('x', { nodes: [node('a'), node('b', { ready: false })] }))).toMatch(
    'TOO_FEW_NODES',
  );
  expect(refusalOf(facts('x', { csiDriver: { spec: { attachRequired: false } } }))).toMatch(
    'NO_ATTACHMENTS',
  );
  expect(refusalOf(facts('x'), ['a', 'a'])).toMatch('SAME_NODE');
  expect(refusalOf(facts('x'), ['a', 'c'])).toMatch('NODE_UNFIT: c can');
  const few = [node('a', { attachable: 8 }), node('b')];
  expect(refusalOf(facts('x', { nodes: few }))).toMatch('TOO_MANY_VOLUMES: 16 volumes');
  expect(refusalOf(facts('x'))).toBeUndefined();
});

test('two neighbours by name are planned, the first for the next pod', () => {
  const nodes = ['b', 'c', 'a'].map((name) => node(name));
  expect(planOrRefusal(facts('x', { nodes }), options).plan?.nodes).toEqual(['b', 'a']);
});

test('a plan has one hash, and another one where anything differs', () => {
  const { plan } = planOrRefusal(facts('x'), options);
  if (plan === undefined) throw new Error('refused');
  expect(planHash(plan)).toBe(planHash(trialPlanOf(plan)));
  expect(planHash(trialPlanOf({ ...plan, trials: 6 }))).not.toBe(planHash(plan));
});

test('the pods of a driver are those with its socket or its name', () => {
  const pod = (name: string, path: string) => ({
    metadata: { name, namespace: 'n' },
    spec: {
      containers: [{ name: 'c', image: 'i:1', args: ['--timeout=15s'] }],
      volumes: [{ name: 'v', hostPath: { path } }],
    },
  });
  const pods = [pod('own', '/var/lib/kubelet/plugins/x.example'), pod('other', '/var/log')];
  expect(driverPods(pods, 'x.example').map(({ name }) => name)).toEqual(['n/own']);
});

test.each([
  ['control-plane', true],
  ['controlplane', true],
  ['master', true],
  ['etcd', true],
  ['worker', false],
])('a node with the role %s has a part of the control plane: %s', async (role, expected) => {
  const items = [{ metadata: { name: 'a', labels: { [`node-role.kubernetes.io/${role}`]: '' } } }];
  const none = () => Promise.resolve({ items: [] });
  const clients = {
    core: { listNode: () => Promise.resolve({ items }), listPodForAllNamespaces: none },
    storage: {
      ...{ listStorageClass: none, listCSINode: none },
      readStorageClass: () => Promise.resolve(),
    },
    version: { getCode: () => Promise.resolve({ gitVersion: 'v1.37.2' }) },
  } as unknown as ProbeClients;
  const { nodes } = await gatherFacts(clients, 'c');
  expect(nodes.map(({ controlPlane }) => controlPlane)).toEqual([expected]);
});

test('rights become rules; only what is there already can be limited to its name', () => {
  const rules = rulesOf(trialNeeds({ namespace: 'forcedetach-probe-1', isGiven: false }));
  expect(rules).toContainEqual({
    ...{ apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'delete'] },
    resourceNames: ['forcedetach-probe-1'],
  });
  expect(rules).toContainEqual({ apiGroups: [''], resources: ['namespaces'], verbs: ['create'] });
  expect(rules.flatMap(({ verbs }) => verbs)).not.toContain('*');
});
