/** Removes objects by a label, and waits until they are gone: a group, and what procedures made. */
import { type KubeClients, orMissing, waitFor } from '../core/index.ts';
import type { GroupDatabase } from '../run/index.ts';
import { diskTool, listVolumes } from './disk/disk.ts';
import type { Lab } from './disk/containers.ts';

export interface Labelled {
  /** For the error: `the group and its volumes`. */
  readonly what: string;
  readonly namespace: string;
  /** Chooses the pods, the claims, the volumes and their classes. */
  readonly labelSelector: string;
  /** Of the StatefulSet and its service. Default: there are none. */
  readonly name?: string;
  /** Of the pods. Default: their own. */
  readonly gracePeriodSeconds?: number;
  /** Begins the names of the volumes: attachments have no label. */
  readonly volumePrefix: string;
  readonly signal?: AbortSignal | undefined;
}

/** Throws InfrastructureError `TIMED_OUT` with what is left after two minutes. Idempotent. */
async function removeLabelled(clients: KubeClients, labelled: Labelled): Promise<void> {
  const { core, apps, storage } = clients;
  const { namespace, labelSelector, name, gracePeriodSeconds, volumePrefix, signal } = labelled;
  if (name !== undefined) {
    const background = { body: { propagationPolicy: 'Background' } };
    await orMissing(apps.deleteNamespacedStatefulSet({ name, namespace, ...background }));
    await orMissing(core.deleteNamespacedService({ name, namespace }));
  }
  const body = gracePeriodSeconds === undefined ? {} : { body: { gracePeriodSeconds } };
  await core.deleteCollectionNamespacedPod({ namespace, labelSelector, ...body });
  await core.deleteCollectionNamespacedPersistentVolumeClaim({ namespace, labelSelector });
  await core.deleteCollectionPersistentVolume({ labelSelector });
  await storage.deleteCollectionStorageClass({ labelSelector });
  const wait = {
    what: `${labelled.what} are gone`,
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

/** What procedures make: their objects in one namespace, by a label and a prefix of their names. */
export const procedures = {
  namespace: 'default',
  labels: { app: 'forcedetach-seed' },
  labelSelector: 'app=forcedetach-seed',
  volumePrefix: 'seed-',
} as const;

/** Resolves when no pod, claim, class, attachment or volume is left. Idempotent. */
export async function removeProcedures(
  clients: KubeClients,
  lab: Lab,
  signal?: AbortSignal,
): Promise<void> {
  // What hangs is not unmounted.
  await diskTool(lab, 'let-go');
  await removeLabelled(clients, {
    what: 'the pods and volumes of a procedure',
    ...procedures,
    signal,
  });
  for (const volume of await listVolumes(lab)) {
    if (!volume.startsWith(procedures.volumePrefix)) continue;
    await diskTool(lab, 'remove-volume', { volume });
  }
}

/** Label of the members' pods and volumes. */
export const selectorOf = ({ template }: GroupDatabase): string => `app=${template.name}`;

/** Its members need no long goodbye: what they had is judged already. */
export function removeGroup(
  clients: KubeClients,
  group: GroupDatabase,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<void> {
  const { name } = group.template;
  const labelSelector = selectorOf(group);
  return removeLabelled(clients, {
    ...{ what: 'the group and its volumes', namespace: 'default', labelSelector, name, signal },
    ...{ gracePeriodSeconds: 5, volumePrefix: `forcedetach-${name}-` },
  });
}
