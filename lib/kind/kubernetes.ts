/** The Kubernetes port over the real API. */
import type { ConfigurationOptions, V1Pod } from '@kubernetes/client-node';
import { driverName, filesDriverName } from '../storage/index.ts';
import * as engine from './engine/commands.ts';
import { run, tryRun } from './engine/run.ts';
import type { ContainerReport, Kubernetes, NodeKubernetes, PodKubernetes } from '../run/index.ts';
import type { PodRef } from '../history/index.ts';
import {
  changeTaints,
  InfrastructureError,
  isReady,
  type KubeClients,
  orMissing,
  statusOf,
} from '../core/index.ts';
import { isInScope, podSelectorOf, type RunScope } from './scope.ts';

/** `controlPlane`: container of the node that has kubectl and an admin's credentials. */
export const kubernetesOf = (
  clients: KubeClients,
  controlPlane: string,
  scope: RunScope,
): Required<Kubernetes> => ({
  ...nodeKubernetesOf(clients, controlPlane),
  ...podKubernetesOf(clients, scope),
});

function podKubernetesOf(clients: KubeClients, scope: RunScope): Required<PodKubernetes> {
  const { core } = clients;
  const { namespace, database } = scope;
  const labelSelector = podSelectorOf(scope);
  return {
    async databasePod(): Promise<PodRef | undefined> {
      const { items } = await core.listNamespacedPod({ namespace, labelSelector });
      return newestFirst(items)
        .map(refOf)
        .find((ref) => ref !== undefined);
    },

    async databaseContainer({ name, uid }): Promise<ContainerReport | undefined> {
      const pod = await orMissing(core.readNamespacedPod({ name, namespace }));
      return pod?.metadata?.uid === uid ? reportOf(pod, database.name) : undefined;
    },

    // In the body: the API server ignores the query's grace period where there is a body.
    forceDelete: (pod) => deletePod(clients, namespace, pod, { gracePeriodSeconds: 0 }),
    deletePod: (pod) => deletePod(clients, namespace, pod, {}),

    async stripPodFinalizers({ name, uid }): Promise<void> {
      const body = [
        { op: 'test', path: '/metadata/uid', value: uid },
        { op: 'add', path: '/metadata/finalizers', value: [] },
      ];
      await core.patchNamespacedPod({ name, namespace, body }).catch(unlessGone);
    },

    restartRollout: () => restartRollout(clients, scope),

    deleteAttachments: (node, options) => deleteAttachments(clients, node, { ...options, scope }),
  };
}

/** `controlPlane`: as above. */
export function nodeKubernetesOf(
  clients: KubeClients,
  controlPlane: string,
): Required<NodeKubernetes> {
  const { core } = clients;
  return {
    async deleteNode(name): Promise<void> {
      await orMissing(admitted(core.deleteNode({ name })));
    },

    async hasNode(name): Promise<boolean> {
      return (await orMissing(core.readNode({ name }))) !== undefined;
    },

    drain: (node, timeoutMs) => drainNode(controlPlane, node, timeoutMs),
    async uncordon(node) {
      await run(engine.exec(controlPlane, ...kubectl, 'uncordon', node));
    },

    taint: (node, taint) =>
      admitted(
        changeTaints(clients, node, (taints) => [
          ...taints.filter(({ key, effect }) => key !== taint.key || effect !== taint.effect),
          taint,
        ]),
      ),

    async stateFenced(name, how) {
      const since = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
      const body = {
        metadata: { annotations: { [fencedKey]: `${since} ${how}, by forcedetach` } },
      };
      await core.patchNode({ name, body }, await asMerge());
    },

    untaint: (node, key) =>
      changeTaints(clients, node, (taints) => taints.filter((each) => each.key !== key)),

    annotateLease: (node, value) => annotateLease(clients, node, value),

    async leaseAnnotation(name): Promise<string | undefined> {
      const lease = await orMissing(
        clients.coordination.readNamespacedLease({ name, namespace: leaseNamespace }),
      );
      return lease?.metadata?.annotations?.[leaseAnnotationKey];
    },

    async isReady(name): Promise<boolean> {
      const node = await orMissing(core.readNode({ name }));
      return isReady(node?.status);
    },
  };
}

async function deletePod(
  { core }: KubeClients,
  namespace: string,
  { name, uid }: PodRef,
  options: { readonly gracePeriodSeconds?: number },
): Promise<void> {
  const body = { ...options, preconditions: { uid } };
  await admitted(core.deleteNamespacedPod({ name, namespace, body })).catch(unlessGone);
}

/** Its annotation is kubectl's (polymorphichelpers/objectrestarter.go). The workload has the database's name. */
async function restartRollout(
  clients: KubeClients,
  { namespace, database }: RunScope,
): Promise<void> {
  const annotations = { 'kubectl.kubernetes.io/restartedAt': new Date().toISOString() };
  const request = {
    ...{ name: database.name, namespace },
    body: { spec: { template: { metadata: { annotations } } } },
  };
  const { apps } = clients;
  const patched = await orMissing(apps.patchNamespacedStatefulSet(request, await asMerge()));
  if (patched === undefined) await apps.patchNamespacedDeployment(request, await asMerge());
}

async function deleteAttachments(
  { storage }: KubeClients,
  node: string,
  { stripFinalizers, scope }: { readonly stripFinalizers: boolean; readonly scope: RunScope },
): Promise<string[]> {
  const { items } = await storage.listVolumeAttachment();
  const names = items
    .filter(({ spec }) => spec.nodeName === node && ours.includes(spec.attacher))
    .filter(({ spec }) => isInScope(scope, spec.source.persistentVolumeName))
    .flatMap(({ metadata }) => metadata?.name ?? []);
  for (const name of names) {
    await orMissing(storage.deleteVolumeAttachment({ name }));
    if (!stripFinalizers) continue;
    const body = [{ op: 'add', path: '/metadata/finalizers', value: [] }];
    // The attacher may have been faster.
    await orMissing(storage.patchVolumeAttachment({ name, body }));
  }
  return names;
}

/** What is given is merged into the object, and null takes a key away. */
async function asMerge(): Promise<ConfigurationOptions> {
  const { PatchStrategy, setHeaderOptions } = await import('@kubernetes/client-node');
  return setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
}

/** Where kubelets keep their Leases, each under its node's name. */
const leaseNamespace = 'kube-node-lease';
const leaseAnnotationKey = 'forcedetach.example/written';

/** A merge: its kubelet renews the Lease meanwhile, and null takes the key away. */
async function annotateLease(
  { coordination }: KubeClients,
  name: string,
  value: string | undefined,
): Promise<void> {
  const body = { metadata: { annotations: { [leaseAnnotationKey]: value ?? null } } };
  await orMissing(
    coordination.patchNamespacedLease({ name, namespace: leaseNamespace, body }, await asMerge()),
  );
}

const ours: readonly string[] = [driverName, filesDriverName];

/**
 * A Deployment makes the replacement while the old pod is Terminating: those that are not come
 * first, and of these the youngest.
 */
export function newestFirst(pods: readonly V1Pod[]): V1Pod[] {
  const leaving = ({ metadata }: V1Pod): number => (metadata?.deletionTimestamp ? 1 : 0);
  const bornMs = ({ metadata }: V1Pod): number => metadata?.creationTimestamp?.getTime() ?? 0;
  return pods.toSorted((a, b) => leaving(a) - leaving(b) || bornMs(b) - bornMs(a));
}

function reportOf({ status }: V1Pod, container: string): ContainerReport | undefined {
  const found = status?.containerStatuses?.find(({ name }) => name === container);
  if (found === undefined) return undefined;
  const { ready, state } = found;
  if (state?.running !== undefined) return { state: 'running', ready };
  const { reason } = state?.terminated ?? state?.waiting ?? {};
  return {
    ...{ state: state?.terminated === undefined ? 'waiting' : 'terminated', ready },
    ...(reason === undefined ? {} : { reason }),
  };
}

function refOf({ metadata, spec }: V1Pod): PodRef | undefined {
  const { name, uid } = metadata ?? {};
  const node = spec?.nodeName;
  return name === undefined || uid === undefined || node === undefined
    ? undefined
    : { name, uid, node };
}

/** Where manifests/prevention/fencing-proof.yaml looks for the proof: since when, how, and by whom. */
const fencedKey = 'forcedetach.dev/fenced';

/** Throws InfrastructureError `ADMISSION_REFUSED`, with its words, where an admission policy refuses. */
const admitted = async <T>(answer: Promise<T>): Promise<T> =>
  answer.catch((error: unknown) => {
    const body = error instanceof Error && 'body' in error ? error.body : undefined;
    const answer = typeof body === 'string' ? (JSON.parse(body) as unknown) : body;
    const { message = '' } = Object(answer) as { readonly message?: string };
    if (!message.includes('ValidatingAdmissionPolicy')) throw error;
    throw new InfrastructureError(
      'ADMISSION_REFUSED',
      `an admission policy refuses it: ${message}`,
      {
        hint: 'fence the node first, then state it as the policy says',
      },
    );
  });

/** 404: no such pod; 409 and 422: the precondition fails, another pod has the name now. */
function unlessGone(error: unknown): undefined {
  if ([404, 409, 422].includes(statusOf(error) ?? 0)) return undefined;
  throw error;
}

/** In the container of the control plane. */
export const kubectl = ['kubectl', '--kubeconfig=/etc/kubernetes/admin.conf'];
/** Beyond its own time limit, for kubectl to start and to end. */
const patienceMs = 30_000;

/** Drains as an operator does. Resolves also where it gives up: a drain that hangs on a lost node is what a run asks about. */
async function drainNode(
  controlPlane: string,
  node: string,
  timeoutMs: number,
): Promise<{ drained: boolean; answer: string }> {
  const limit = `--timeout=${timeoutMs / 1000}s`;
  const flags = ['--ignore-daemonsets', '--delete-emptydir-data', limit];
  const argv = engine.exec(controlPlane, ...kubectl, 'drain', node, ...flags);
  const result = await tryRun(argv, { timeoutMs: timeoutMs + patienceMs });
  const said = `${result.stdout}\n${result.stderr}`.split('\n').filter((line) => line !== '');
  return { drained: result.exitCode === 0, answer: said.slice(-3).join(' / ') };
}
