/** The database on the cluster: one MySQL on one volume, and the clean slate after it. */
import { driverName, filesDriverName } from '../../csi/layout.ts';
import type { Scenario } from '../../experiment/scenario.ts';
import type { PodRef } from '../port.ts';
import { apply, orMissing, type KubeClients } from './kube.ts';
import { readManifest } from './manifest.ts';
import { followPodLogs, type LogLine } from './pod-log.ts';
import { waitFor } from './wait.ts';

const namespace = 'default';
const statefulSet = 'mysql';
const service = 'mysql';
const podName = 'mysql-0';
const claim = 'data-mysql-0';
const volumeName = 'forcedetach-mysql';

/** What kind of disk the database gets. */
export type DiskChoice = Pick<
  Scenario,
  | 'disk'
  | 'cutAfterMs'
  | 'watcherCheck'
  | 'fileLocks'
  | 'flushes'
  | 'keepWrites'
  | 'filesystem'
  | 'accessMode'
>;

export interface DatabaseOptions {
  readonly image: string;
  /** Of the CSI volume; its image exists already. */
  readonly volumeHandle: string;
  readonly sizeBytes: number;
  readonly choice: DiskChoice;
  /** tolerationSeconds of the unreachable and not-ready taints; whole seconds count. */
  readonly tolerationMs: number;
  /** innodb_flush_log_at_trx_commit. */
  readonly trxCommit: 0 | 1 | 2;
  /** Default 180 000: initialising a data directory takes its time on a busy machine. */
  readonly readyTimeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface DatabasePod extends PodRef {
  readonly ip: string;
}

/** Creates volume and StatefulSet and resolves once the pod is Ready. */
export async function deployDatabase(
  clients: KubeClients,
  options: DatabaseOptions,
): Promise<DatabasePod> {
  const values = {
    MYSQL_IMAGE: options.image,
    VOLUME_HANDLE: options.volumeHandle,
    SIZE_BYTES: options.sizeBytes,
    ...volumeValues(options.choice),
    TOLERATION_SECONDS: Math.round(options.tolerationMs / 1_000),
    TRX_COMMIT: options.trxCommit,
  };
  await apply(clients, await readManifest('mysql/volume.yaml', values));
  await apply(clients, await readManifest('mysql/statefulset.yaml', values));
  const wait = {
    what: `the pod ${podName} is Ready`,
    timeoutMs: options.readyTimeoutMs ?? 180_000,
    signal: options.signal,
    command: `kubectl describe pod ${podName}`,
  };
  return waitFor(wait, () => readyPod(clients));
}

/** Fills in manifests/mysql/volume.yaml: what Kubernetes is told, and what the driver alone reads. */
export function volumeValues(choice: DiskChoice): Readonly<Record<string, string>> {
  const { disk, filesystem } = choice;
  return {
    DRIVER: disk === 'shared-file' ? filesDriverName : driverName,
    FS_TYPE: filesystem === 'xfs' ? 'xfs' : 'ext4',
    ACCESS_MODE: choice.accessMode,
    DETACH_MODE: disk,
    CUT_AFTER_MS: String(choice.cutAfterMs),
    WATCHER_CHECK: choice.watcherCheck,
    FILE_LOCKS: choice.fileLocks,
    FLUSHES: choice.flushes,
    KEEP_WRITES: String(choice.keepWrites),
    MKFS: filesystem === 'ext4-mmp' ? 'mmp' : 'plain',
  };
}

async function readyPod({ core }: KubeClients): Promise<DatabasePod | string> {
  const pod = await orMissing(core.readNamespacedPod({ name: podName, namespace }));
  if (pod === undefined) return 'there is no pod yet';
  const uid = pod.metadata?.uid;
  const node = pod.spec?.nodeName;
  const ip = pod.status?.podIP;
  const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
  if (ready && uid !== undefined && node !== undefined && ip !== undefined) {
    return { name: podName, uid, node, ip };
  }
  const waiting = pod.status?.containerStatuses?.[0]?.state?.waiting;
  const state = waiting === undefined ? '' : `: ${waiting.reason} ${waiting.message ?? ''}`;
  return `the pod is ${pod.status?.phase ?? 'unknown'} on ${node ?? 'no node'}${state}`;
}

/** A node that just came back takes its time on a busy machine. */
const removalTimeoutMs = 120_000;

/**
 * Resolves when nothing is left: no pod, claim, volume or attachment. Nothing there is no error;
 * nothing is taken away by force, since a finalizer that stays is a finding.
 */
export async function removeDatabase(
  clients: KubeClients,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<void> {
  const { core, apps } = clients;
  const named = { namespace, body: { propagationPolicy: 'Background' } };
  await orMissing(apps.deleteNamespacedStatefulSet({ name: statefulSet, ...named }));
  await orMissing(core.deleteNamespacedService({ name: service, namespace }));
  await orMissing(core.deleteNamespacedPod({ name: podName, namespace }));
  await orMissing(core.deleteNamespacedPersistentVolumeClaim({ name: claim, namespace }));
  await orMissing(core.deletePersistentVolume({ name: volumeName }));
  await waitFor(
    {
      what: 'the database and its volume are gone',
      timeoutMs: removalTimeoutMs,
      signal,
      command: 'kubectl get statefulset,pod,pvc,pv,volumeattachment',
    },
    async () => {
      const left = await leftovers(clients);
      return left.length === 0 ? true : `left: ${left.join(', ')}`;
    },
  );
}

async function attachments({ storage }: KubeClients): Promise<string[]> {
  const { items } = await storage.listVolumeAttachment();
  return items
    .filter(({ spec }) => spec.attacher === driverName)
    .flatMap(({ metadata }) => metadata?.name ?? []);
}

async function leftovers(clients: KubeClients): Promise<string[]> {
  const { core, apps } = clients;
  const [set, pod, bound, volume, attached] = await Promise.all([
    orMissing(apps.readNamespacedStatefulSet({ name: statefulSet, namespace })),
    orMissing(core.readNamespacedPod({ name: podName, namespace })),
    orMissing(core.readNamespacedPersistentVolumeClaim({ name: claim, namespace })),
    orMissing(core.readPersistentVolume({ name: volumeName })),
    attachments(clients),
  ]);
  const named = {
    'the StatefulSet': set,
    'the pod': pod,
    'the claim': bound,
    'the volume': volume,
  };
  const left = Object.entries(named).flatMap(([name, object]) => (object ? [name] : []));
  return [...left, ...attached.map((name) => `the attachment ${name}`)];
}

/** mysqld's error log on one node, of every pod of the database that ran there. */
export const followDatabaseLog = (node: string, onLine: (line: LogLine) => void): AsyncDisposable =>
  followPodLogs(node, `/var/log/pods/${namespace}_mysql-*/mysql/*.log`, onLine);
