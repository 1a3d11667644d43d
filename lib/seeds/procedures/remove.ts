/** Takes away what procedures made, also what a killed one left: all of it bears one label. */
import type { KubeClients } from '../../cluster/kind/kube.ts';
import { removeVolume } from '../../cluster/kind/disk/disk-tool.ts';
import type { Lab } from '../../cluster/kind/disk/lab-port.ts';
import { waitFor } from '../../cluster/kind/wait.ts';
import { podLabel } from './pod.ts';
import type { SeedVolume } from './volume.ts';

const namespace = 'default';
const labelSelector = podLabel;

/** Resolves when no pod, claim, volume or attachment is left. Idempotent. */
export async function removeObjects(
  clients: KubeClients,
  lab: Lab,
  volumes: readonly SeedVolume[],
): Promise<void> {
  const { core, storage } = clients;
  await core.deleteCollectionNamespacedPod({ namespace, labelSelector });
  await core.deleteCollectionNamespacedPersistentVolumeClaim({ namespace, labelSelector });
  await core.deleteCollectionPersistentVolume({ labelSelector });
  await storage.deleteCollectionStorageClass({ labelSelector });
  const wait = {
    what: 'the pods and volumes of the procedure are gone',
    timeoutMs: 120_000,
    command: 'kubectl get pod,pvc,pv,volumeattachment',
  };
  await waitFor(wait, async () => {
    const [pods, claims, left, { items: attached }] = await Promise.all([
      core.listNamespacedPod({ namespace, labelSelector }),
      core.listNamespacedPersistentVolumeClaim({ namespace, labelSelector }),
      core.listPersistentVolume({ labelSelector }),
      storage.listVolumeAttachment(),
    ]);
    const names = [...pods.items, ...claims.items, ...left.items].map(
      ({ metadata }) => metadata?.name,
    );
    const held = attached.filter(({ spec }) =>
      spec.source.persistentVolumeName?.startsWith('seed-'),
    );
    names.push(...held.map(({ metadata }) => metadata?.name));
    return names.length === 0 || `left: ${names.join(', ')}`;
  });
  for (const { name } of volumes) await removeVolume(lab, name);
}
