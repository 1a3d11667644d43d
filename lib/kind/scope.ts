/** Where one volume's objects live in the cluster, alone there or beside others, and what was provisioned for it. */
import type { V1Namespace, V1PersistentVolume } from '@kubernetes/client-node';
import { type CallEntry, callSchema, defaultRoot, driverName, layoutOf } from '../storage/index.ts';
import type { Database } from '../run/index.ts';
import { linesOf } from './engine/run.ts';
import { InfrastructureError, type KubeClients } from '../core/index.ts';
import type { Provisioning } from '../history/index.ts';
import type { Lab } from './disk/containers.ts';

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

/** Lets pods be scheduled on these nodes, or keeps new ones away. Idempotent. */
export async function setSchedulable(
  { core }: KubeClients,
  nodes: readonly string[],
  schedulable: boolean,
): Promise<void> {
  const body = [{ op: 'add', path: '/spec/unschedulable', value: !schedulable }];
  for (const name of nodes) await core.patchNode({ name, body });
}

/** Claim of the database: the StatefulSet's, and the one that a Deployment gets. */
export const claimOf = ({ database }: RunScope): string => `data-${database.name}-0`;

const provisionedBy = 'pv.kubernetes.io/provisioned-by';

/** Volumes that our driver's provisioner made for claims of this scope, also of claims that are gone. */
export async function provisionedIn(
  { core }: KubeClients,
  scope: RunScope,
): Promise<V1PersistentVolume[]> {
  const { items } = await core.listPersistentVolume();
  return items.filter(
    ({ metadata, spec }) =>
      metadata?.annotations?.[provisionedBy] === driverName &&
      spec?.claimRef?.namespace === scope.namespace &&
      spec.claimRef.name === claimOf(scope),
  );
}

export interface ProvisionedQuery {
  readonly lab: Lab;
  readonly scope: RunScope;
  /** CLOCK_MONOTONIC at the run's beginning, nanoseconds. */
  readonly originNs: bigint;
}

/** What the claim is bound to now. Throws InfrastructureError `NOT_PROVISIONED`. */
export async function provisioningOf(
  { core }: KubeClients,
  { lab, scope, originNs }: ProvisionedQuery,
): Promise<Provisioning> {
  const { namespace } = scope;
  const claim = claimOf(scope);
  const bound = await core.readNamespacedPersistentVolumeClaim({ name: claim, namespace });
  const volumeName = bound.spec?.volumeName ?? '';
  const volume = await core.readPersistentVolume({ name: volumeName });
  const handle = volume.spec?.csi?.volumeHandle ?? '';
  const by = volume.metadata?.annotations?.[provisionedBy] ?? '';
  if (volume.spec?.claimRef?.uid !== bound.metadata?.uid || handle === '' || by === '') {
    throw new InfrastructureError('NOT_PROVISIONED', `${volumeName} was not made for ${claim}`, {
      command: `kubectl get pv ${volumeName} -o yaml`,
    });
  }
  const calls = (await callsAbout(lab, handle)).map(
    ({ call, node, monoMs, durationMs, error }): Provisioning['calls'][number] => ({
      ...{ call, node, t: monoMs - Number(originNs) / 1e6, durationMs },
      ...(error === undefined ? {} : { error }),
    }),
  );
  return { storageClass: storageClassOf(scope), claim, volumeName, handle, by, calls };
}

/** What the driver logged of it on any node, in the order in which the calls came in. */
async function callsAbout(lab: Lab, handle: string): Promise<CallEntry[]> {
  const find = 'grep -hF -- "$0" "$1"/csi-*.jsonl';
  const lines = await lab.exec(['sh', '-c', find, handle, layoutOf(defaultRoot).log]);
  return (
    linesOf(lines)
      .map((line) => callSchema.parse(JSON.parse(line)))
      // To make a volume it is asked for by a name, which becomes its handle.
      .filter(({ volume, request }) => volume === handle || request['name'] === handle)
      .toSorted((a, b) => a.monoMs - b.monoMs)
  );
}
