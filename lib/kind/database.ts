/** The database on the cluster: one server on one volume, and the clean slate after it. */
import type { V1PersistentVolume, V1Pod, V1VolumeAttachment } from '@kubernetes/client-node';
import { type CallEntry, callSchema, defaultRoot, driverName, layoutOf } from '../storage/index.ts';
import { linesOf } from './engine/run.ts';
import {
  InfrastructureError,
  type KubeClients,
  apply,
  isReady,
  orMissing,
  waitFor,
} from '../core/index.ts';
import type { Provisioning, PodRef } from '../history/index.ts';
import type { Lab } from './disk/containers.ts';
import { newestFirst } from './kubernetes.ts';
import {
  podFinalizer,
  readSelfFenceIdentity,
  renderWorkload,
  type WorkloadOptions,
} from './objects.ts';
import {
  claimOf,
  isInScope,
  namespaceOf,
  podSelectorOf,
  soleNamespace,
  storageClassOf,
  type RunScope,
} from './scope.ts';

/** Lets pods be scheduled on these nodes, or keeps new ones away. Idempotent. */
export async function setSchedulable(
  { core }: KubeClients,
  nodes: readonly string[],
  schedulable: boolean,
): Promise<void> {
  const body = [{ op: 'add', path: '/spec/unschedulable', value: !schedulable }];
  for (const name of nodes) await core.patchNode({ name, body });
}

const provisionedBy = 'pv.kubernetes.io/provisioned-by';

/** Volumes that our driver's provisioner made for claims of this scope, also of claims that are gone. */
export async function provisionedIn(
  { core }: KubeClients,
  scope: RunScope,
): Promise<V1PersistentVolume[]> {
  const { items } = await core.listPersistentVolume();
  return items.filter(
    ({ metadata, spec }) =>
      metadata?.annotations?.[provisionedBy] === driverName &&
      spec?.claimRef?.namespace === scope.namespace &&
      spec.claimRef.name === claimOf(scope),
  );
}

interface ProvisionedQuery {
  readonly lab: Lab;
  readonly scope: RunScope;
  /** CLOCK_MONOTONIC at the run's beginning, nanoseconds. */
  readonly originNs: bigint;
}

/** What the claim is bound to now. Throws InfrastructureError `NOT_PROVISIONED`. */
export async function provisioningOf(
  { core }: KubeClients,
  { lab, scope, originNs }: ProvisionedQuery,
): Promise<Provisioning> {
  const { namespace } = scope;
  const claim = claimOf(scope);
  const bound = await core.readNamespacedPersistentVolumeClaim({ name: claim, namespace });
  const volumeName = bound.spec?.volumeName ?? '';
  const volume = await core.readPersistentVolume({ name: volumeName });
  const handle = volume.spec?.csi?.volumeHandle ?? '';
  const by = volume.metadata?.annotations?.[provisionedBy] ?? '';
  if (volume.spec?.claimRef?.uid !== bound.metadata?.uid || handle === '' || by === '') {
    throw new InfrastructureError('NOT_PROVISIONED', `${volumeName} was not made for ${claim}`, {
      command: `kubectl get pv ${volumeName} -o yaml`,
    });
  }
  const calls = (await callsAbout(lab, handle)).map(
    ({ call, node, monoMs, durationMs, error }): Provisioning['calls'][number] => ({
      ...{ call, node, t: monoMs - Number(originNs) / 1e6, durationMs },
      ...(error === undefined ? {} : { error }),
    }),
  );
  return { storageClass: storageClassOf(scope), claim, volumeName, handle, by, calls };
}

/** What the driver logged of it on any node, in the order in which the calls came in. */
async function callsAbout(lab: Lab, handle: string): Promise<CallEntry[]> {
  const find = 'grep -hF -- "$0" "$1"/csi-*.jsonl';
  const lines = await lab.exec(['sh', '-c', find, handle, layoutOf(defaultRoot).log]);
  return (
    linesOf(lines)
      .map((line) => callSchema.parse(JSON.parse(line)))
      // To make a volume it is asked for by a name, which becomes its handle.
      .filter(({ volume, request }) => volume === handle || request['name'] === handle)
      .toSorted((a, b) => a.monoMs - b.monoMs)
  );
}

/** Initialising a data directory takes its time on a busy machine. */
const readyTimeoutMs = 180_000;

interface DatabaseOptions extends WorkloadOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface DatabasePod extends PodRef {
  readonly ip: string;
}

/** Creates volume and StatefulSet or Deployment, and resolves once the pod is Ready. */
export async function deployDatabase(
  clients: KubeClients,
  options: DatabaseOptions,
): Promise<DatabasePod> {
  const { scope } = options;
  if (!scope.isSole) await apply(clients, [namespaceOf(scope)]);
  await apply(clients, await renderWorkload(options));
  const wait = {
    what: 'the database’s pod is Ready',
    timeoutMs: readyTimeoutMs,
    everyMs: 1000,
    signal: options.signal,
    command: `kubectl describe pod --selector ${podSelectorOf(scope)}`,
  };
  return waitFor(wait, () => readyPod(clients, scope));
}

async function listPods({ core }: KubeClients, scope: RunScope): Promise<V1Pod[]> {
  const { namespace } = scope;
  const labelSelector = podSelectorOf(scope);
  const { items } = await core.listNamespacedPod({ namespace, labelSelector });
  return newestFirst(items);
}

async function readyPod(clients: KubeClients, scope: RunScope): Promise<DatabasePod | string> {
  const [pod] = await listPods(clients, scope);
  if (pod === undefined) return 'there is no pod yet';
  const { name, uid } = pod.metadata ?? {};
  const node = pod.spec?.nodeName;
  const ip = pod.status?.podIP;
  if (isReady(pod.status) && name && uid && node && ip) return { name, uid, node, ip };
  const waiting = pod.status?.containerStatuses?.find(({ state }) => state?.waiting)?.state
    ?.waiting;
  const state = waiting === undefined ? '' : `: ${waiting.reason} ${waiting.message ?? ''}`;
  return `the pod is ${pod.status?.phase ?? 'unknown'} on ${node ?? 'no node'}${state}`;
}

/** A node that just came back takes its time on a busy machine. */
const removalTimeoutMs = 120_000;
/** A kubelet that hears of the deletion has ended the server and unmounted within this time. */
const heardWithinMs = 8000;

interface RemovalOptions {
  readonly signal?: AbortSignal | undefined;
  readonly scope: RunScope;
  /**
   * Called once where something is left after eight seconds. A kubelet that was cut off tries its
   * watch of pods again after up to a minute (client-go reflector.go, back-off of 30 s, doubled by
   * chance); one that is started anew lists them at once. Default: nothing is done.
   */
  readonly wake?: (() => Promise<void>) | undefined;
  /**
   * Keeps the claim of a volume that was provisioned, and with it the volume, until a removal without
   * this. Default false: the provisioner takes it away again.
   */
  readonly keepProvisioned?: boolean;
}

/**
 * Resolves when nothing is left: no pod, claim, volume or attachment. Nothing there is no error;
 * nothing is taken away by force, since a finalizer that stays is a finding: but for the one that a
 * scenario gave the pod.
 */
export async function removeDatabase(
  clients: KubeClients,
  { signal, wake, scope, keepProvisioned = false }: RemovalOptions,
): Promise<void> {
  const { core, apps, objects, storage } = clients;
  const { namespace, volumeName, database } = scope;
  const { name } = database;
  const named = { namespace, body: { propagationPolicy: 'Background' } };
  await orMissing(apps.deleteNamespacedStatefulSet({ name, ...named }));
  await orMissing(apps.deleteNamespacedDeployment({ name, ...named }));
  await orMissing(core.deleteNamespacedService({ name, namespace }));
  await core.deleteCollectionNamespacedPod({ namespace, labelSelector: podSelectorOf(scope) });
  for (const pod of await listPods(clients, scope)) await dropOwnFinalizer(clients, pod);
  const keeps = keepProvisioned && (await provisionedIn(clients, scope)).length > 0;
  if (!keeps) {
    await orMissing(
      core.deleteNamespacedPersistentVolumeClaim({ name: claimOf(scope), namespace }),
    );
    await orMissing(core.deletePersistentVolume({ name: volumeName }));
    await orMissing(storage.deleteStorageClass({ name: storageClassOf(scope) }));
  }
  for (const each of await readSelfFenceIdentity(database)) await orMissing(objects.delete(each));
  const heardAtMs = performance.now() + heardWithinMs;
  let isAwake = false;
  const wait = {
    ...{ what: 'the database and its volume are gone', timeoutMs: removalTimeoutMs, signal },
    ...{ everyMs: 1000, command: 'kubectl get statefulset,deployment,pod,pvc,pv,volumeattachment' },
  };
  await waitFor(wait, async () => {
    const left = await leftovers(clients, scope, keeps);
    if (left.length === 0) return true;
    if (!isAwake && performance.now() > heardAtMs) {
      isAwake = true;
      await wakeAttacher(clients, scope);
      await wake?.();
    }
    return `left: ${left.join(', ')}`;
  });
  if (!scope.isSole && !keeps) await orMissing(core.deleteNamespace({ name: namespace }));
}

/** The run's own of all. */
function ownAttachments(
  all: readonly V1VolumeAttachment[],
  scope: RunScope,
  provisioned: readonly V1PersistentVolume[],
): readonly V1VolumeAttachment[] {
  const names = provisioned.map(({ metadata }) => metadata?.name);
  return all.filter(({ spec: { attacher, source } }) => {
    const { persistentVolumeName: name } = source;
    return attacher === driverName && (isInScope(scope, name) || names.includes(name));
  });
}

/**
 * After calls that failed or were not answered it waits for minutes before it tries again; a change of the
 * attachment that is no status makes it try at once (csi-attacher, shouldEnqueueVAChange).
 */
async function wakeAttacher(clients: KubeClients, scope: RunScope): Promise<void> {
  const [provisioned, { items }] = await Promise.all([
    provisionedIn(clients, scope),
    clients.storage.listVolumeAttachment(),
  ]);
  for (const { metadata } of ownAttachments(items, scope, provisioned)) {
    const { name = '', labels } = metadata ?? {};
    const body = [{ op: 'add', path: '/metadata/labels', value: { ...labels, awake: 'true' } }];
    await orMissing(clients.storage.patchVolumeAttachment({ name, body }));
  }
}

async function dropOwnFinalizer({ core }: KubeClients, { metadata }: V1Pod): Promise<void> {
  const { name, namespace = soleNamespace, finalizers = [] } = metadata ?? {};
  if (name === undefined || !finalizers.includes(podFinalizer)) return;
  const value = finalizers.filter((each) => each !== podFinalizer);
  const body = [{ op: 'replace', path: '/metadata/finalizers', value }];
  await orMissing(core.patchNamespacedPod({ name, namespace, body }));
}

/** `keeps`: a volume that was provisioned, and its claim, are to stay. A volume stays as long as its attachment. */
async function leftovers(clients: KubeClients, scope: RunScope, keeps: boolean): Promise<string[]> {
  const { core, apps, storage } = clients;
  const { namespace, volumeName, database } = scope;
  const named = { name: database.name, namespace };
  const [set, deployment, pods, bound, volume, provisioned, attachments] = await Promise.all([
    orMissing(apps.readNamespacedStatefulSet(named)),
    orMissing(apps.readNamespacedDeployment(named)),
    listPods(clients, scope),
    orMissing(core.readNamespacedPersistentVolumeClaim({ name: claimOf(scope), namespace })),
    orMissing(core.readPersistentVolume({ name: volumeName })),
    provisionedIn(clients, scope),
    storage.listVolumeAttachment(),
  ]);
  const objects = {
    'the StatefulSet': set,
    'the Deployment': deployment,
    'the claim': keeps ? undefined : bound,
    'the volume': volume,
  };
  // With what the provisioner's driver said where it would not take the volume away.
  const volumes = provisioned.map(({ metadata, status }) =>
    [`the volume ${metadata?.name}`, status?.phase, status?.message].filter(Boolean).join(', '),
  );
  return [
    ...Object.entries(objects).flatMap(([name, object]) => (object ? [name] : [])),
    ...pods.map(({ metadata }) => `the pod ${metadata?.name}`),
    ...ownAttachments(attachments.items, scope, provisioned).map(
      ({ metadata }) => `the attachment ${metadata?.name}`,
    ),
    ...(keeps ? [] : volumes),
  ];
}
