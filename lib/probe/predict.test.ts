import { expect, test } from 'vitest';
import { predictDriver } from './predict.ts';
import { mustHaveClass, mustReach } from './refuse.ts';
import { rulesOf, trialNeeds } from './rights.ts';
import type { UserClients } from '../core/kubernetes-client.ts';
import { gatherFacts, type Facts, type NodeFacts } from './facts.ts';
import { planHash, trialPlanOf } from './plan.ts';
import { planOrRefusal } from './dry-run.ts';

const node = (name: string, change: Partial<NodeFacts> = {}): NodeFacts => ({
  ...{ name, ready: true, schedulable: true, controlPlane: false, outOfService: false },
  ...{ kubelet: 'v1.37.2', kernel: '6.1', osImage: 'x', runtime: 'y' },
  ...{ hasDriver: true, attachable: undefined, labels: {}, topologyKeys: [] },
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
      driver,
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
  ['ebs.csi.aws.com', 'documented'],
  ['rook-ceph.rbd.csi.ceph.com', 'reported'],
  ['disk.vendor.example', 'not found'],
])('a prediction of %s is as sure as its weakest source: %s', (driver, sure) => {
  expect(predictDriver(facts(driver))).toMatchObject({ sure });
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

test.each<[string, string | undefined, Facts, (readonly [string, string])?]>([
  ['a local volume', 'LOCAL_VOLUMES', facts('rancher.io/local-path')],
  ['no driver', 'NO_CSI_DRIVER', facts('x', { csiDriver: undefined })],
  [
    ...(['volumes that stay', 'VOLUMES_STAY'] as const),
    facts('x', { storageClass: { provisioner: 'x', reclaimPolicy: 'Retain' } }),
  ],
  [
    ...(['one node', 'TOO_FEW_NODES'] as const),
    facts('x', { nodes: [node('a'), node('b', { ready: false })] }),
  ],
  [
    ...(['no attach phase', 'NO_ATTACHMENTS'] as const),
    facts('x', { csiDriver: { spec: { attachRequired: false } } }),
  ],
  ['one node twice', 'SAME_NODE', facts('x'), ['a', 'a']],
  ['no such node', 'NODE_UNFIT: c can', facts('x'), ['a', 'c']],
  [
    ...(['few volumes a node', 'TOO_MANY_VOLUMES: 16 volumes'] as const),
    facts('x', { nodes: [node('a', { attachable: 8 }), node('b')] }),
  ],
  [
    ...(['an in-tree name', 'NO_CSI_DRIVER: kubernetes.io/aws-ebs is an in-tree name'] as const),
    facts('kubernetes.io/aws-ebs', { driver: 'ebs.csi.aws.com' }),
  ],
  ['none of these', undefined, facts('x')],
])('refused: %s', (_, code, asked, nodes) => {
  const said = refusalOf(asked, nodes);
  if (code === undefined) expect(said).toBeUndefined();
  else expect(said).toMatch(code);
});

const zone = 'topology.vendor.example/zone';
const inZone = (name: string, value: string, more: Partial<NodeFacts> = {}): NodeFacts =>
  node(name, { labels: { [zone]: value }, topologyKeys: [zone], ...more });
const [rack, host] = ['topology.vendor.example/rack', 'vendor.example/hostname'];
const inRack = (name: string, place: string): NodeFacts =>
  inZone(name, 'east', {
    labels: { [zone]: 'east', [rack]: place, [host]: name },
    topologyKeys: [zone, rack, host],
  });
const three = [inZone('a', 'west'), inZone('b', 'east'), inZone('c', 'east')];
const allEast = ['a', 'b', 'c'].map((name) => inZone(name, 'east'));
const storageClass = {
  ...{ metadata: { name: 'c' }, provisioner: 'x' },
  allowedTopologies: [{ matchLabelExpressions: [{ key: zone, values: ['west'] }] }],
};

test.each<[string, readonly [string, string], readonly NodeFacts[], Partial<Facts>?]>([
  [
    'neighbours by name, the first for the next pod',
    ['b', 'a'],
    ['b', 'c', 'a'].map((n) => node(n)),
  ],
  ['one zone', ['c', 'b'], three],
  [
    'the zone with the most nodes',
    ['d', 'a'],
    [...three, inZone('d', 'west'), inZone('e', 'west')],
  ],
  [
    ...(['nodes that fit', ['d', 'a']] as const),
    [...three.slice(0, 2), inZone('c', 'east', { ready: false }), inZone('d', 'west')],
  ],
  [
    'all keys but one that names the node itself',
    ...([
      ['c', 'b'],
      [inRack('a', '1'), inRack('b', '2'), inRack('c', '2')],
    ] as const),
  ],
  [
    ...(['allowedTopologies of the class', ['e', 'd']] as const),
    ...([[...allEast, inZone('d', 'west'), inZone('e', 'west')], { storageClass }] as const),
  ],
])('nodes are chosen by %s', (_, expected, nodes, change = {}) => {
  const { plan } = planOrRefusal(facts('x', { nodes, ...change }), options);
  expect(plan?.nodes).toEqual(expected);
});

test('where allowedTopologies leave out all nodes, that is said of each', () => {
  expect(planOrRefusal(facts('x', { nodes: allEast, storageClass }), options).refusal).toMatch(
    /TOO_FEW_NODES[\s\S]*a: allowedTopologies of the class leave it out/,
  );
});

test('two nodes of different zones are refused, chosen or named, with the zones and a command', () => {
  const nodes = [inZone('a', 'west'), inZone('b', 'east')];
  const refused =
    /NODES_APART.*a \(topology.vendor.example\/zone=west\), b \(.*=east\)[\s\S]*get nodes -L topology/;
  expect(planOrRefusal(facts('x', { nodes }), options).refusal).toMatch(refused);
  const named = { ...options, nodes: ['a', 'b'] as const };
  const all = [...nodes, inZone('c', 'west')];
  expect(planOrRefusal(facts('x', { nodes: all }), named).refusal).toMatch(refused);
});

test('a volume that the next node can not reach ends the trials with its topology', () => {
  const volume = (...values: string[]) => ({
    ...{ metadata: { name: 'pvc-1' } },
    spec: {
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: zone, operator: 'In', values }] }],
        },
      },
    },
  });
  const reach = (values: string[]) => () => mustReach(volume(...values), 'b', { [zone]: 'east' });
  expect(reach(['west', 'east'])).not.toThrow();
  expect(() => mustReach({}, 'b', {})).not.toThrow();
  expect(reach(['west'])).toThrow(
    expect.objectContaining({ code: 'VOLUME_APART', message: expect.stringContaining('=west') }),
  );
});

test('a plan has one hash, and another one where anything differs', () => {
  const { plan } = planOrRefusal(facts('x'), options);
  if (plan === undefined) throw new Error('refused');
  expect(planHash(plan)).toBe(planHash(trialPlanOf(plan)));
  expect(planHash(trialPlanOf({ ...plan, trials: 6 }))).not.toBe(planHash(plan));
});

const none = () => Promise.resolve({ items: [] });
async function gathered(
  nodes: object[],
  pods: object[] = [],
  csiNodes: object[] = [],
): Promise<Facts> {
  const [found] = await gatherFacts(
    {
      core: {
        listNode: () => Promise.resolve({ items: nodes }),
        listPodForAllNamespaces: () => Promise.resolve({ items: pods }),
      },
      storage: {
        ...{ listStorageClass: none, readCSIDriver: () => Promise.resolve() },
        listCSINode: () => Promise.resolve({ items: csiNodes }),
        readStorageClass: () => Promise.resolve({ provisioner: 'x.example' }),
      },
      version: { getCode: () => Promise.resolve({ gitVersion: 'v1.37.2' }) },
    } as unknown as UserClients,
    'c',
  );
  return found;
}

test('the pods of a driver are those with its socket or its name', async () => {
  const pod = (name: string, path: string) => ({
    metadata: { name, namespace: 'n' },
    spec: {
      containers: [{ name: 'c', image: 'i:1', args: ['--timeout=15s'] }],
      volumes: [{ name: 'v', hostPath: { path } }],
    },
  });
  const pods = [pod('own', '/var/lib/kubelet/plugins/x.example'), pod('other', '/var/log')];
  expect((await gathered([], pods)).driverPods.map(({ name }) => name)).toEqual(['n/own']);
});

test('a node that no driver is registered on has none', async () => {
  const { nodes } = await gathered(
    [{ metadata: { name: 'a' } }],
    [],
    [{ metadata: { name: 'a' }, spec: { drivers: null } }],
  );
  expect(nodes).toMatchObject([{ hasDriver: false }]);
});

test('roles that have a part of the control plane', async () => {
  const roles = ['control-plane', 'controlplane', 'master', 'etcd', 'worker'];
  const { nodes } = await gathered(
    roles.map((role) => ({ metadata: { labels: { [`node-role.kubernetes.io/${role}`]: '' } } })),
  );
  const isPart = nodes.map(({ controlPlane }) => controlPlane);
  expect(isPart).toEqual([true, true, true, true, false]);
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
