/** When a node must not be cut off: each reason by itself, and that a node without any may be. */
import type {
  V1Pod,
  V1PodDisruptionBudget,
  V1SelfSubjectAccessReviewSpec,
} from '@kubernetes/client-node';
import { expect, test } from 'vitest';
import type { Facts, NodeFacts } from './facts.ts';
import { mustBeConfirmed, mustBeCuttable } from './refuse.ts';
import type { UserClients } from '../core/kubernetes-client.ts';

const node = (name: string, change: Partial<NodeFacts> = {}): NodeFacts => ({
  ...{ name, ready: true, schedulable: true, controlPlane: false, outOfService: false },
  ...{ kubelet: '', kernel: '', osImage: '', runtime: '', hasDriver: true },
  ...{ attachable: undefined, labels: {}, topologyKeys: [], ...change },
});
const factsOf = (...nodes: NodeFacts[]): Facts => ({ nodes }) as unknown as Facts;

interface There {
  readonly pods?: readonly V1Pod[];
  readonly budgets?: readonly V1PodDisruptionBudget[];
  readonly accessModes?: string[];
  /** Names of those that there are. Default: any. */
  readonly claims?: readonly string[];
  readonly longhorn?: string;
  readonly forbids?: string;
}

const clientsOf = ({ pods = [], budgets = [], accessModes, ...there }: There): UserClients =>
  ({
    context: 'k',
    authorization: {
      createSelfSubjectAccessReview: ({
        body,
      }: {
        body: { spec: V1SelfSubjectAccessReviewSpec };
      }) => {
        const allowed = body.spec.resourceAttributes?.resource !== there.forbids;
        return Promise.resolve({ status: { allowed } });
      },
    },
    core: {
      listPodForAllNamespaces: () => Promise.resolve({ items: pods }),
      readNamespacedPersistentVolumeClaim: ({ name }: { name: string }) =>
        there.claims?.includes(name) === false
          ? Promise.reject(Object.assign(new Error('no such claim'), { code: 404 }))
          : Promise.resolve({ spec: { accessModes: accessModes ?? ['ReadWriteOnce'] } }),
    },
    policy: {
      listPodDisruptionBudgetForAllNamespaces: () => Promise.resolve({ items: budgets }),
    },
    custom: {
      getNamespacedCustomObject: () =>
        there.longhorn === undefined
          ? Promise.reject(new Error('403'))
          : Promise.resolve({ value: there.longhorn }),
    },
  }) as unknown as UserClients;

const pod = (name: string, more: Partial<V1Pod['spec']> = {}): V1Pod => ({
  metadata: { name, namespace: 'theirs', labels: { app: name } },
  spec: {
    nodeName: 'a',
    containers: [{ name: 'c', image: `registry.example/${name}:1` }],
    ...more,
  },
  status: { phase: 'Running' },
});
const dbOn = (nodeName: string): V1Pod =>
  pod('db', {
    nodeName,
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }],
  });
const ours: V1Pod = {
  metadata: { name: 'cut-1-a', namespace: 'probe', labels: { 'forcedetach.probe': 'yes' } },
  spec: {
    ...{ nodeName: 'a', containers: [] },
    volumes: [{ name: 'volume', persistentVolumeClaim: { claimName: 'cut-1' } }],
  },
  status: { phase: 'Running' },
};
const budget = (disruptionsAllowed: number, app = 'web'): V1PodDisruptionBudget => ({
  metadata: { name: 'web', namespace: 'theirs' },
  spec: { selector: { matchExpressions: [{ key: 'app', operator: 'In', values: [app] }] } },
  status: { disruptionsAllowed, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
});

const two = factsOf(node('a'), node('b'));
const cut = (there: There, facts = two): Promise<void> =>
  mustBeCuttable(clientsOf(there), facts, ['a', 'b'], 'probe');

const ephemeral = (nodeName: string): V1Pod =>
  pod('cache', { nodeName, volumes: [{ name: 'scratch', ephemeral: {} }] });
const acting = (name: string, more?: Partial<V1Pod['spec']>): [string, string, There] => [
  ...(['CUT_REMEDIATOR', `theirs/${name} acts on lost nodes by itself`] as const),
  { pods: [pod(name, more)] },
];
const theyActOn = 'Longhorn’s node-down-pod-deletion-policy is';

test.each<[string, string, There, Facts?]>([
  [
    'CUT_CONTROL_PLANE',
    'a runs a part of the control plane',
    {},
    factsOf(node('a', { controlPlane: true }), node('b')),
  ],
  [
    'CUT_LAST_NODE',
    'a is the last node that takes pods',
    {},
    factsOf(node('a'), node('b', { ready: false })),
  ],
  ...[
    'node-healthcheck-controller-manager-6d5f-x',
    'self-node-remediation-ds-1',
    'fence-agents-remediation-controller-manager-7c-x',
    'machine-deletion-remediation-controller-manager-5b-x',
  ].map((name) => acting(name)),
  ...[
    'quay.io/medik8s/node-healthcheck-operator:v0.9.0',
    'registry.redhat.io/workload-availability/node-healthcheck-rhel9-operator@sha256:0a',
    'quay.io/medik8s/fence-agents-remediation-operator:v0.5.0',
    'quay.io/medik8s/self-node-remediation-operator:v0.10.0',
    'quay.io/piraeusdatastore/piraeus-ha-controller:v1.3.0',
  ].map((image) => acting('some-name', { containers: [{ name: 'manager', image }] })),
  [
    'CUT_REMEDIATOR',
    `${theyActOn} delete-statefulset-pod`,
    { pods: [pod('longhorn-manager')], longhorn: 'delete-statefulset-pod' },
  ],
  ['CUT_REMEDIATOR', `${theyActOn} not to be read`, { pods: [pod('longhorn-manager')] }],
  [
    'CUT_BUDGET',
    'the PodDisruptionBudget theirs/web allows no disruption, and has pods on a',
    { pods: [pod('web')], budgets: [budget(0)] },
  ],
  ['CUT_FOREIGN_VOLUMES', 'pods on a use volumes of one node: theirs/db', { pods: [dbOn('a')] }],
  [
    'CUT_FOREIGN_VOLUMES',
    'pods on a use volumes of one node: theirs/cache',
    { pods: [ephemeral('a')], claims: ['cache-scratch'] },
  ],
  [
    'CUT_FOREIGN_VOLUMES',
    'pods on a use volumes of one node: theirs/db',
    { pods: [dbOn('a')], accessModes: ['ReadWriteOncePod'] },
  ],
  [
    'CLUSTER_FORBIDDEN',
    'on the cluster of k you may not get persistentvolumeclaims',
    { forbids: 'persistentvolumeclaims' },
  ],
  [
    'CLUSTER_FORBIDDEN',
    'on the cluster of k you may not get settings.longhorn.io/node-down-pod-deletion-policy',
    { pods: [pod('longhorn-manager')], longhorn: 'do-nothing', forbids: 'settings' },
  ],
])('%s: %s', async (code, message, there, facts) => {
  await expect(cut(there, facts)).rejects.toMatchObject({
    ...{ code, message, hint: expect.any(String), command: expect.stringContaining('kubectl') },
  });
});

test.each<[string, There]>([
  ['nobody is there', {}],
  ['Longhorn leaves lost nodes alone', { pods: [pod('longhorn-manager')], longhorn: 'do-nothing' }],
  ['a budget has one to spare', { pods: [pod('web')], budgets: [budget(1)] }],
  ['a spent budget is of other pods', { pods: [pod('web')], budgets: [budget(0, 'other')] }],
  ['the volumes may be on many nodes', { pods: [dbOn('a')], accessModes: ['ReadWriteMany'] }],
  ['what uses a volume of one node runs elsewhere', { pods: [dbOn('b'), ephemeral('b')] }],
  ['the claim of a pod was never made', { pods: [dbOn('a')], claims: [] }],
  ['the pods there are its own', { pods: [ours] }],
])('it may be cut where %s', async (_, there) => {
  await expect(cut(there)).resolves.toBeUndefined();
});

test('its name has to be given twice', () => {
  expect(() => mustBeConfirmed('a', 'b')).toThrow(
    expect.objectContaining({ code: 'CUT_NOT_CONFIRMED' }),
  );
  expect(() => mustBeConfirmed('a', 'a')).not.toThrow();
});
