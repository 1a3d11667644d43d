/** Takes away what procedures made, also what a killed one left. */
import { letGoCalls, listVolumes, removeVolume } from '../disk/disk-tool.ts';
import type { Lab } from '../disk/lab.ts';
import { untilGone } from '../gone.ts';
import type { KubeClients } from '../../../kube.ts';

export const namespace = 'default';
export const labels = { app: 'forcedetach-seed' };
export const labelSelector = `app=${labels.app}`;
/** Begins the names of all that procedures make. */
export const namePrefix = 'seed-';

/** Resolves when no pod, claim, class, attachment or volume is left. Idempotent. */
export async function removeObjects(
  clients: KubeClients,
  lab: Lab,
  signal?: AbortSignal,
): Promise<void> {
  const { core, storage } = clients;
  // What hangs is not unmounted.
  await letGoCalls(lab);
  await core.deleteCollectionNamespacedPod({ namespace, labelSelector });
  await core.deleteCollectionNamespacedPersistentVolumeClaim({ namespace, labelSelector });
  await core.deleteCollectionPersistentVolume({ labelSelector });
  await storage.deleteCollectionStorageClass({ labelSelector });
  const what = 'the pods and volumes of a procedure';
  const leaving = { what, namespace, labelSelector, volumePrefix: namePrefix, signal };
  await untilGone(clients, leaving);
  const volumes = await listVolumes(lab);
  for (const volume of volumes.filter((each) => each.startsWith(namePrefix))) {
    await removeVolume(lab, volume);
  }
}
