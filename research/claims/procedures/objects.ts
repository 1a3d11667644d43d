/** The objects of a procedure: volumes, their claims, and pods that sleep. All bear one label. Pure. */
import type { KubernetesObject, V1Pod } from '@kubernetes/client-node';
import { driverName, filesDriverName } from '../../../lib/storage/index.ts';
import { isDirectory, type DiskMode, type Scenario } from '../../../lib/scenario/index.ts';
import { procedures } from '../../../lib/kind/index.ts';

const { labels, namespace } = procedures;

export interface VolumeChoice {
  /** Default 64. */
  readonly mib?: number;
  /** Default unfenced. */
  readonly disk?: DiskMode;
  /** Default ReadWriteOnce. */
  readonly accessMode?: Scenario['volume']['accessMode'];
  /** Default none. */
  readonly storageClass?: string;
  /** Default Retain. */
  readonly reclaim?: 'Retain' | 'Recycle';
}

export const bytesOf = ({ mib = 64 }: VolumeChoice): number => mib * 1024 ** 2;

const commonOf = ({ accessMode = 'ReadWriteOnce', storageClass = '' }: VolumeChoice): object => ({
  ...{ accessModes: [accessMode], storageClassName: storageClass },
});

/** `claim`: gets it before any other. Default: the one that fits best. */
export function volumeObject(name: string, choice: VolumeChoice, claim?: string): KubernetesObject {
  const { disk = 'unfenced', reclaim = 'Retain' } = choice;
  const about = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace };
  const spec = {
    ...commonOf(choice),
    capacity: { storage: String(bytesOf(choice)) },
    persistentVolumeReclaimPolicy: reclaim,
    ...(claim === undefined ? {} : { claimRef: { ...about, name: claim } }),
    csi: {
      driver: isDirectory(disk) ? filesDriverName : driverName,
      fsType: 'ext4',
      volumeHandle: name,
      volumeAttributes: { detachMode: disk },
    },
  };
  return object('v1', 'PersistentVolume', { metadata: { name, labels }, spec });
}

/** `volume`: the one it wants. Default: any that fits. */
export function claimObject(name: string, choice: VolumeChoice, volume?: string): KubernetesObject {
  const spec = {
    ...commonOf(choice),
    ...(volume === undefined ? {} : { volumeName: volume }),
    resources: { requests: { storage: String(bytesOf(choice)) } },
  };
  return object('v1', 'PersistentVolumeClaim', { metadata: { name, namespace, labels }, spec });
}

export const classObject = (
  name: string,
  volumeBindingMode: 'Immediate' | 'WaitForFirstConsumer',
  provisioner: string,
): KubernetesObject =>
  object('storage.k8s.io/v1', 'StorageClass', {
    ...{ metadata: { name, labels }, provisioner, volumeBindingMode },
  });

const object = (apiVersion: string, kind: string, rest: object): KubernetesObject => ({
  ...{ apiVersion, kind, ...rest },
});

export interface ProcedurePodChoice {
  /** Its claim's name. Default: none. */
  readonly volume?: string;
  /** Through the scheduler. Default: any. */
  readonly node?: string;
  /** Past the scheduler: the pod is bound to the node as it is made. Default false. */
  readonly bound?: boolean;
  /** Default: sleeps for ever. */
  readonly command?: readonly string[];
  /** terminationGracePeriodSeconds; default 1, and never 0: that alone would be a force-delete. */
  readonly graceS?: number;
  /** Default Always. */
  readonly restart?: 'Always' | 'Never';
}

export const defaultGraceS = 1;

export function podObject(name: string, image: string, choice: ProcedurePodChoice): V1Pod {
  const { volume, node, bound = false, command = ['sleep', 'infinity'] } = choice;
  const chosen = bound ? { nodeName: node } : { nodeSelector: { 'kubernetes.io/hostname': node } };
  const container = { name: 'main', image, imagePullPolicy: 'IfNotPresent', command: [...command] };
  const mounts = [{ name: 'data', mountPath: '/data' }];
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: volume } }];
  const spec = {
    ...(node === undefined ? {} : chosen),
    restartPolicy: choice.restart ?? 'Always',
    terminationGracePeriodSeconds: choice.graceS ?? defaultGraceS,
    ...{ automountServiceAccountToken: false, enableServiceLinks: false },
    containers: [volume === undefined ? container : { ...container, volumeMounts: mounts }],
    ...(volume === undefined ? {} : { volumes }),
  };
  return { metadata: { name, labels }, spec } as V1Pod;
}
