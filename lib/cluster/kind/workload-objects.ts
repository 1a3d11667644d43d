/** The database's Kubernetes objects: its folder of manifests/ with a scenario's choices filled in. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { driverName, filesDriverName } from '../../csi/layout.ts';
import { database } from '../../database/chosen.ts';
import { isDirectory } from '../../disk-modes/index.ts';
import type { Scenario } from '../../experiment/scenario.ts';
import { readManifest } from './create/manifest.ts';
import { storageClassOf, soleScope, type RunScope } from './run-scope.ts';
import { renderPod, type DatabasePodChoice, type PodOptions } from './pod-template.ts';

/** What a scenario says about the disk, and about what makes the pod. */
type DiskChoice = Pick<
  Scenario,
  | 'workload'
  | 'provision'
  | 'disk'
  | 'cutAfterMs'
  | 'watcherCheck'
  | 'attachWhileBusy'
  | 'fileLocks'
  | 'flushes'
  | 'keepWrites'
  | 'filesystem'
  | 'accessMode'
>;

export interface WorkloadOptions extends PodOptions {
  /** Handle of the CSI volume, whose image exists already; of no meaning where it is provisioned. */
  readonly volumeHandle: string;
  /** Default: that of a run which has the cluster for itself. */
  readonly scope?: RunScope;
  readonly sizeBytes: number;
  readonly choice: DatabasePodChoice & DiskChoice;
}

/** The controller of the pods, by workload: its manifest and what that leaves open. */
const controllers = {
  'stateful-set': { file: 'statefulset', values: { POD_MANAGEMENT: 'OrderedReady' } },
  'stateful-set-parallel': { file: 'statefulset', values: { POD_MANAGEMENT: 'Parallel' } },
  'deployment-recreate': { file: 'deployment', values: { STRATEGY: 'Recreate' } },
  'deployment-rolling-update': { file: 'deployment', values: { STRATEGY: 'RollingUpdate' } },
} as const satisfies Record<Scenario['workload'], unknown>;

/** In the order to apply them: the volume first. */
export async function renderWorkload(options: WorkloadOptions): Promise<KubernetesObject[]> {
  const { choice, scope = soleScope } = options;
  const { file, values } = controllers[choice.workload];
  const isProvisioned = choice.provision === 'dynamic';
  const volume = {
    ...volumeValues(choice),
    NAMESPACE: scope.namespace,
    // The claim names its volume, or who is to make one.
    VOLUME_NAME: isProvisioned ? '' : scope.volumeName,
    CLASS: isProvisioned ? storageClassOf(scope) : '',
    VOLUME_HANDLE: options.volumeHandle,
    SIZE_BYTES: options.sizeBytes,
  };
  const whole = { ...volume, ...values, POD_TEMPLATE: JSON.stringify(await renderPod(options)) };
  return [
    ...(choice.selfFence === 'off' ? [] : await readSelfFenceIdentity()),
    ...(await readManifest(`${database.name}/${isProvisioned ? 'class' : 'volume'}.yaml`, volume)),
    ...(await readManifest(`${database.name}/${file}.yaml`, whole)),
  ];
}

/** Who the self-fencing sidecar is, and what it may read. */
export const readSelfFenceIdentity = (): Promise<KubernetesObject[]> =>
  readManifest(`${database.name}/self-fence.yaml`, {});

/** For volume.yaml and class.yaml: what Kubernetes is told, and what the driver alone reads. */
function volumeValues(choice: DiskChoice): Readonly<Record<string, string>> {
  const { disk, filesystem } = choice;
  return {
    DRIVER: isDirectory(disk) ? filesDriverName : driverName,
    FS_TYPE: filesystem === 'xfs' ? 'xfs' : 'ext4',
    ACCESS_MODE: choice.accessMode,
    DETACH_MODE: disk,
    CUT_AFTER_MS: String(choice.cutAfterMs),
    WATCHER_CHECK: choice.watcherCheck,
    ATTACH_WHILE_BUSY: choice.attachWhileBusy,
    FILE_LOCKS: choice.fileLocks,
    FLUSHES: choice.flushes,
    KEEP_WRITES: String(choice.keepWrites),
    MKFS: filesystem === 'ext4-mmp' ? 'mmp' : 'plain',
  };
}
