/** Where one volume's objects live in the cluster, alone there or beside others, and what they are called. */
import type { V1Namespace } from '@kubernetes/client-node';
import type { KubeClients } from '../core/index.ts';
import type { Database } from '../run/index.ts';

export interface RunScope {
  readonly namespace: string;
  /** Name of the PersistentVolume; of one that is provisioned the provisioner names it. */
  readonly volumeName: string;
  /** It has the cluster for itself. */
  readonly isSole: boolean;
  readonly database: Database;
}

const volumeNameOf = ({ name }: Database): string => `forcedetach-${name}`;

export const soleNamespace = 'default';

/** Scope of a volume that has the cluster for itself. */
export const soleScope = (database: Database): RunScope => ({
  ...{ namespace: soleNamespace, volumeName: volumeNameOf(database), isSole: true, database },
});

/** Label of the database's pods. */
export const podSelectorOf = ({ database }: Pick<RunScope, 'database'>): string =>
  `app=${database.name}`;

const prefix = 'beside-';
const label = 'forcedetach.beside';

/** `*`: of every one. */
export const namespaceBeside = (runId: string): string => `${prefix}${runId}`;

/** Scope of one volume beside others. */
export const scopeBeside = (database: Database, runId: string): RunScope => ({
  ...{ namespace: namespaceBeside(runId), isSole: false, database },
  volumeName: `${volumeNameOf(database)}-${runId}`,
});

/** Name of the StorageClass, where the volume is provisioned. */
export const storageClassOf = ({ volumeName }: RunScope): string => volumeName;

/** To one alone in its cluster every volume belongs, whatever an older run left. */
export const isInScope = (scope: RunScope, volumeName: string | undefined): boolean =>
  scope.isSole || scope.volumeName === volumeName;

export const namespaceOf = ({ namespace }: RunScope): V1Namespace => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: namespace, labels: { [label]: 'yes' } },
});

/** Scopes that volumes beside others have, or left behind. */
export async function scopesBeside({ core }: KubeClients, database: Database): Promise<RunScope[]> {
  const { items } = await core.listNamespace({ labelSelector: label });
  return items.flatMap(({ metadata }) => {
    const { name = '', deletionTimestamp } = metadata ?? {};
    return deletionTimestamp === undefined
      ? [scopeBeside(database, name.slice(prefix.length))]
      : [];
  });
}

/** Claim of the database: the StatefulSet's, and the one that a Deployment gets. */
export const claimOf = ({ database }: RunScope): string => `data-${database.name}-0`;
