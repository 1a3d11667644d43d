/** When a node must not be cut off: each reason by itself, and that a node without any may be. */
import type {
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodDisruptionBudget,
} from '@kubernetes/client-node';
import { expect, test } from 'vitest';
import type { ProbeClients } from '../clients.ts';
import type { Facts, NodeFacts } from '../facts.ts';
import { mustBeConfirmed, mustBeCuttable } from './refuse.ts';

const node = (name: string, change: Partial<NodeFacts> = {}): NodeFacts => ({
  ...{ name, ready: true, schedulable: true, controlPlane: false, outOfService: false },
  ...{ kubelet: '', kernel: '', osImage: '', runtime: '', bootId: '', hasDriver: true },
  ...{ attachable: undefined, ...change },
});
const factsOf = (...nodes: NodeFacts[]): Facts => ({ nodes }) as unknown as Facts;

interface There {
  readonly pods?: readonly V1Pod[];
  readonly budgets?: readonly V1PodDisruptionBudget[];
  readonly accessModes?: string[];
  readonly longhorn?: string;
  readonly forbids?: string;
}

const clientsOf = (there: There): ProbeClients =>
  ({
    context: 'k',
    authorization: {
      createSelfSubjectAccessReview: ({
        body,
      }: {
        body: { spec: { resourceAttributes: { resource: string } } };
      }) =>
        Promise.resolve({
          status: { allowed: body.spec.resourceAttributes.resource !== there.forbids },
        }),
    },
    core: {
      listPodForAllNamespaces: () => Promise.resolve({ items: there.pods ?? [] }),
      readNamespacedPersistentVolumeClaim: () =>
        Promise.resolve({
          spec: { accessModes: there.accessModes ?? ['ReadWriteOnce'] },
        } satisfies V1PersistentVolumeClaim),
    },
    policy: {
      listPodDisruptionBudgetForAllNamespaces: () =>
        Promise.resolve({ items: there.budgets ?? [] }),
    },
    custom: {
      getNamespacedCustomObject: () =>
        there.longhorn === undefined
          ? Promise.reject(new Error('403'))
          : Promise.resolve({ value: there.longhorn }),
    },
  }) as unknown as ProbeClients;

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
const budget = (disruptionsAllowed: number, app = 'web'): V1PodDisruptionBudget => ({
  metadata: { name: 'web', namespace: 'theirs' },
  spec: { selector: { matchExpressions: [{ key: 'app', operator: 'In', values: [app] }] } },
  status: { disruptionsAllowed, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
});

const two = factsOf(node('a'), node('b'));
const cut = (there: There, facts = two): Promise<void> =>
  mustBeCuttable(clientsOf(there), facts, ['a', 'b']);

test.each<[string, There, Facts?]>([
  ['CUT_CONTROL_PLANE', {}, factsOf(node('a', { controlPlane: true }), node('b'))],
  ['CUT_LAST_NODE', {}, factsOf(node('a'), node('b', { ready: false }))],
  ['CUT_REMEDIATOR', { pods: [pod('self-node-remediation-ds-1')] }],
  ['CUT_REMEDIATOR', { pods: [pod('longhorn-manager')], longhorn: 'delete-statefulset-pod' }],
  ['CUT_REMEDIATOR', { pods: [pod('longhorn-manager')] }],
  ['CUT_BUDGET', { pods: [pod('web')], budgets: [budget(0)] }],
  ['CUT_FOREIGN_VOLUMES', { pods: [dbOn('a')] }],
  ['CLUSTER_FORBIDDEN', { forbids: 'persistentvolumeclaims' }],
])('%s', async (code, there, facts) => {
  await expect(cut(there, facts)).rejects.toMatchObject({
    ...{ code, hint: expect.any(String), command: expect.stringContaining('kubectl') },
  });
});

test.each<[string, There]>([
  ['nobody is there', {}],
  ['Longhorn leaves lost nodes alone', { pods: [pod('longhorn-manager')], longhorn: 'do-nothing' }],
  ['a budget has one to spare', { pods: [pod('web')], budgets: [budget(1)] }],
  ['a spent budget is of other pods', { pods: [pod('web')], budgets: [budget(0, 'other')] }],
  ['the volumes may be on many nodes', { pods: [dbOn('a')], accessModes: ['ReadWriteMany'] }],
  ['what uses a volume of one node runs elsewhere', { pods: [dbOn('b')] }],
])('it may be cut where %s', async (_, there) => {
  await expect(cut(there)).resolves.toBeUndefined();
});

test('its name has to be given twice', () => {
  expect(() => mustBeConfirmed('a', 'b')).toThrow(
    expect.objectContaining({ code: 'CUT_NOT_CONFIRMED' }),
  );
  expect(() => mustBeConfirmed('a', 'a')).not.toThrow();
});
