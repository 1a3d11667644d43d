/** Where one volume's objects live in the cluster, alone there or beside others. */
import type { V1Namespace } from '@kubernetes/client-node';
import { database } from '../../database/chosen.ts';
import type { KubeClients } from '../../kube.ts';

export interface RunScope {
  readonly namespace: string;
  /** Name of the PersistentVolume; of one that is provisioned the provisioner names it. */
  readonly volumeName: string;
}

const volumeName = `forcedetach-${database.name}`;

/** Scope of a volume that has the cluster for itself. */
export const soleScope: RunScope = { namespace: 'default', volumeName };

const prefix = 'beside-';
const label = 'forcedetach.beside';

/** Scope of one volume beside others. */
export const scopeBeside = (runId: string): RunScope => ({
  namespace: `${prefix}${runId}`,
  volumeName: `${volumeName}-${runId}`,
});

/** Name of the StorageClass, where the volume is provisioned. */
export const storageClassOf = ({ volumeName }: RunScope): string => volumeName;

/** To one alone in its cluster every volume belongs, whatever an older run left. */
export const isInScope = (scope: RunScope, volumeName: string | undefined): boolean =>
  scope === soleScope || scope.volumeName === volumeName;

/** The namespace as an object to apply. */
export const namespaceOf = ({ namespace }: RunScope): V1Namespace => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: namespace, labels: { [label]: 'yes' } },
});

/** Scopes that volumes beside others have, or left behind. */
export async function scopesBeside({ core }: KubeClients): Promise<RunScope[]> {
  const { items } = await core.listNamespace({ labelSelector: label });
  return items.flatMap(({ metadata }) => {
    const { name = '', deletionTimestamp } = metadata ?? {};
    return deletionTimestamp === undefined ? [scopeBeside(name.slice(prefix.length))] : [];
  });
}

/** Lets pods be scheduled on these nodes, or keeps new ones away. Idempotent. */
export async function setSchedulable(
  { core }: KubeClients,
  nodes: readonly string[],
  schedulable: boolean,
): Promise<void> {
  const body = [{ op: 'add', path: '/spec/unschedulable', value: !schedulable }];
  for (const name of nodes) await core.patchNode({ name, body });
}
