/** Waits until objects with one label are gone, and what their volumes were attached by. */
import type { KubeClients } from '../../kube.ts';
import { waitFor } from '../../wait-for.ts';

export interface Leaving {
  /** For the error: `the group and its volumes`. */
  readonly what: string;
  readonly namespace: string;
  /** Chooses the pods, the claims and the volumes. */
  readonly labelSelector: string;
  /** Begins the names of the volumes: attachments have no label. */
  readonly volumePrefix: string;
  readonly signal?: AbortSignal | undefined;
}

/** Throws InfrastructureError `TIMED_OUT` with what is left after two minutes. */
export async function untilGone({ core, storage }: KubeClients, leaving: Leaving): Promise<void> {
  const { namespace, labelSelector, volumePrefix, signal } = leaving;
  const wait = {
    what: `${leaving.what} are gone`,
    timeoutMs: 120_000,
    command: 'kubectl get statefulset,pod,pvc,pv,volumeattachment',
    signal,
  };
  await waitFor(wait, async () => {
    const [pods, claims, volumes, attached] = await Promise.all([
      core.listNamespacedPod({ namespace, labelSelector }),
      core.listNamespacedPersistentVolumeClaim({ namespace, labelSelector }),
      core.listPersistentVolume({ labelSelector }),
      storage.listVolumeAttachment(),
    ]);
    const named = [...pods.items, ...claims.items, ...volumes.items];
    const left = named.flatMap(({ metadata }) => metadata?.name ?? []);
    for (const { spec } of attached.items) {
      const volume = spec.source.persistentVolumeName ?? '';
      if (volume.startsWith(volumePrefix)) left.push(`the attachment of ${volume}`);
    }
    return left.length === 0 || `left: ${left.join(', ')}`;
  });
}
