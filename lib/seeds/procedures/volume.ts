/** A small volume of our driver with its claim, as the database's is made. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { createVolume } from '../../cluster/kind/disk/disk-tool.ts';
import { apply, type KubeClients } from '../../cluster/kind/kube.ts';
import type { Lab } from '../../cluster/kind/disk/lab-port.ts';
import { driverName, filesDriverName } from '../../csi/layout.ts';
import type { DiskMode } from '../../disk-modes/index.ts';
import type { Scenario } from '../../experiment/scenario.ts';
import { labels } from './pod.ts';

export interface VolumeChoice {
  /** Default unfenced. */
  readonly disk?: DiskMode;
  /** Default ReadWriteOnce. */
  readonly accessMode?: Scenario['accessMode'];
  /** One that waits for the first pod; default none, and bound at once. */
  readonly storageClass?: string;
}

export interface SeedVolume {
  /** Of the PersistentVolume, of its claim and of the CSI volume. */
  readonly name: string;
}

const sizeBytes = 64 * 1024 ** 2;

export async function makeVolume(
  lab: Lab,
  clients: KubeClients,
  name: string,
  choice: VolumeChoice,
): Promise<SeedVolume> {
  const { disk = 'unfenced' } = choice;
  await createVolume(lab, { volume: name, sizeBytes, mode: disk });
  await apply(clients, objects(name, disk, choice));
  return { name };
}

function objects(
  name: string,
  disk: DiskMode,
  { accessMode = 'ReadWriteOnce', storageClass }: VolumeChoice,
): KubernetesObject[] {
  const common = { accessModes: [accessMode], storageClassName: storageClass ?? '' };
  // Bound beforehand to each other, unless the first pod shall decide.
  const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: 'default', name };
  const volume = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, labels },
    spec: {
      ...common,
      capacity: { storage: String(sizeBytes) },
      persistentVolumeReclaimPolicy: 'Retain',
      ...(storageClass === undefined ? { claimRef } : {}),
      csi: {
        driver: disk === 'shared-file' ? filesDriverName : driverName,
        fsType: 'ext4',
        volumeHandle: name,
        volumeAttributes: { detachMode: disk },
      },
    },
  };
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace: 'default', labels },
    spec: {
      ...common,
      ...(storageClass === undefined ? { volumeName: name } : {}),
      resources: { requests: { storage: String(sizeBytes) } },
    },
  };
  return [volume, claim];
}
