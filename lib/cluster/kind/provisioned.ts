/** What the provisioner made for the database's claim: told for the history, and found again for its end. */
import type { V1PersistentVolume } from '@kubernetes/client-node';
import { callSchema, type CallEntry } from '../../csi/call-log.ts';
import { defaultRoot, driverName, layoutOf } from '../../csi/layout.ts';
import { database } from '../../database/chosen.ts';
import { InfrastructureError } from '../../errors.ts';
import type { Provisioning } from '../../storage/identity.ts';
import type { Lab } from './disk/lab.ts';
import type { KubeClients } from '../../kube.ts';
import { storageClassOf, type RunScope } from './run-scope.ts';

/** Claim of the database: the StatefulSet's, and the one that a Deployment gets. */
export const claim = `data-${database.name}-0`;

const provisionedBy = 'pv.kubernetes.io/provisioned-by';

/** Volumes that our driver's provisioner made for claims of this scope, also of claims that are gone. */
export async function provisionedIn(
  { core }: KubeClients,
  { namespace }: RunScope,
): Promise<V1PersistentVolume[]> {
  const { items } = await core.listPersistentVolume();
  return items.filter(
    ({ metadata, spec }) =>
      metadata?.annotations?.[provisionedBy] === driverName &&
      spec?.claimRef?.namespace === namespace &&
      spec.claimRef.name === claim,
  );
}

export interface ProvisionedAsked {
  readonly lab: Lab;
  readonly scope: RunScope;
  /** CLOCK_MONOTONIC at the run's beginning, nanoseconds. */
  readonly originNs: bigint;
}

/** What the claim is bound to now. Throws InfrastructureError `NOT_PROVISIONED`. */
export async function provisioningOf(
  { core }: KubeClients,
  { lab, scope, originNs }: ProvisionedAsked,
): Promise<Provisioning> {
  const { namespace } = scope;
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
  const calls = await callsAbout(lab, handle);
  return {
    ...{ storageClass: storageClassOf(scope), claim, volumeName, handle, by },
    calls: calls.map((entry) => callOf(entry, Number(originNs) / 1e6)),
  };
}

/** What the driver logged of it on any node, in the order in which the calls came in. */
async function callsAbout(lab: Lab, handle: string): Promise<CallEntry[]> {
  const find = 'grep -hF -- "$0" "$1"/csi-*.jsonl';
  const lines = await lab.exec(['sh', '-c', find, handle, layoutOf(defaultRoot).log]);
  return (
    lines
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => callSchema.parse(JSON.parse(line)))
      // To make a volume it is asked for by a name, which becomes its handle.
      .filter(({ volume, request }) => volume === handle || request['name'] === handle)
      .toSorted((a, b) => a.monoMs - b.monoMs)
  );
}

const callOf = (
  { call, node, monoMs, durationMs, error }: CallEntry,
  originMs: number,
): Provisioning['calls'][number] => ({
  ...{ call, node, t: monoMs - originMs, durationMs },
  ...(error === undefined ? {} : { error }),
});
