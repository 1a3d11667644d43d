/** Volumes and claims that no pod uses and no storage stands behind: objects of the API alone. */
import type { V1PersistentVolumeClaim } from '@kubernetes/client-node';
import { filesDriverName } from '../../csi/layout.ts';
import { apply } from '../../cluster/kind/kube.ts';
import { namespace, type Bench } from './bench.ts';
import { labels } from './pod.ts';

export interface BareVolume {
  readonly mib: number;
  /** Default none. */
  readonly storageClass?: string;
  /** Default Retain. */
  readonly reclaim?: 'Retain' | 'Recycle';
}

export async function makeBareVolume(
  bench: Bench,
  name: string,
  choice: BareVolume,
): Promise<void> {
  const { mib, storageClass = '', reclaim = 'Retain' } = choice;
  const spec = {
    accessModes: ['ReadWriteOnce'],
    capacity: { storage: `${mib}Mi` },
    persistentVolumeReclaimPolicy: reclaim,
    storageClassName: storageClass,
    csi: { driver: filesDriverName, volumeHandle: name },
  };
  const volume = { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name, labels }, spec };
  await apply(bench.clients, [volume]);
}

export async function makeClaim(
  bench: Bench,
  name: string,
  { mib, storageClass = '' }: { readonly mib: number; readonly storageClass?: string },
): Promise<void> {
  const spec = {
    accessModes: ['ReadWriteOnce'],
    storageClassName: storageClass,
    resources: { requests: { storage: `${mib}Mi` } },
  };
  const about = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' };
  const claim = { ...about, metadata: { name, namespace, labels }, spec };
  await apply(bench.clients, [claim]);
}

export const readClaim = (bench: Bench, name: string): Promise<V1PersistentVolumeClaim> =>
  bench.clients.core.readNamespacedPersistentVolumeClaim({ name, namespace });

export async function volumePhase(bench: Bench, name: string): Promise<string> {
  const { status } = await bench.clients.core.readPersistentVolume({ name });
  return status?.phase ?? 'none';
}

export const claimPhase = async (bench: Bench, name: string): Promise<string> =>
  (await readClaim(bench, name)).status?.phase ?? 'none';

export const isClaim = (bench: Bench, name: string, phase: string): Promise<true> =>
  bench.wait(
    `the claim ${name} is ${phase}`,
    async () => {
      const now = await claimPhase(bench, name);
      return now === phase || `it is ${now}`;
    },
    30_000,
  );

export const isVolume = (bench: Bench, name: string, phase: string): Promise<true> =>
  bench.wait(
    `the volume ${name} is ${phase}`,
    async () => {
      const now = await volumePhase(bench, name);
      return now === phase || `it is ${now}`;
    },
    30_000,
  );
