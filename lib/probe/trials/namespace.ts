/**
 * The namespace of a probe: all that it makes lies there, or goes with it (volumes and their
 * attachments). It says whose it is, and for how long.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { V1Namespace } from '@kubernetes/client-node';
import { orMissing } from '../../kube.ts';
import {
  currentOwner,
  decodeOwner,
  encodeOwner,
  ownerState,
  type OwnerState,
} from '../../owner.ts';
import { InfrastructureError } from '../../errors.ts';
import { answered, kubectl } from '../../user-cluster.ts';
import type { ProbeClients } from '../clients.ts';
import {
  expiryAnnotation,
  namespaceObject,
  ownerAnnotation,
  probeLabel,
  type PodSecurity,
} from './objects.ts';
import { nowMs } from './view.ts';

/** Namespace of a run that is not made. */
export const exampleNamespace = 'forcedetach-probe-00000000';
export const newProbeNamespace = (): string =>
  `forcedetach-probe-${randomBytes(4).toString('hex')}`;
export const isProbesName = (name = ''): boolean => /^forcedetach-probe-[0-9a-f]{8}$/.test(name);

/** For all that is not the watch: volumes and pods come and go, somebody grants a right. */
const besideWatchMs = 3_600_000;

export interface NamespaceRequest {
  /** The longest that the plan watches for. */
  readonly watchMs: number;
  readonly security: PodSecurity;
}

/** Owner of what this process makes. */
export const ownerNow = (): string => encodeOwner(currentOwner());

/** Namespace as it is made now, by this process. */
export const namespaceNow = (
  name: string,
  { watchMs, security }: NamespaceRequest,
): V1Namespace => {
  const expires = new Date(nowMs() + watchMs + besideWatchMs);
  return namespaceObject(name, ownerNow(), expires, security);
};

/** Throws as `answered` does. */
export async function makeNamespace(
  clients: ProbeClients,
  name: string,
  lease: NamespaceRequest,
): Promise<void> {
  const body = namespaceNow(name, lease);
  await answered(clients, 'made a namespace', clients.core.createNamespace({ body }));
}

const goneMs = 180_000;
const lookMs = 500;

/**
 * Removes a namespace of ours and waits until it is gone, and the volumes of its claims with it.
 * Throws InfrastructureError `PROBE_STAYS` with what is left after three minutes; as `answered` does.
 */
export async function removeNamespace(clients: ProbeClients, name: string): Promise<void> {
  const { core } = clients;
  const doing = `removed the namespace ${name}`;
  const found = await answered(clients, doing, orMissing(core.readNamespace({ name })));
  if (found === undefined) return;
  if (found.metadata?.labels?.[probeLabel] === undefined) {
    throw new InfrastructureError('NOT_OURS', `the namespace ${name} has no label of a probe`);
  }
  const claims = await answered(
    clients,
    doing,
    core.listNamespacedPersistentVolumeClaim({ namespace: name }),
  );
  const volumes = claims.items.flatMap(({ spec }) => spec?.volumeName ?? []);
  await endPods(clients, name);
  const uid = found.metadata.uid ?? '';
  const deleted = orMissing(core.deleteNamespace({ name, body: { preconditions: { uid } } }));
  await answered(clients, doing, deleted);
  await untilNamespaceGone(clients, name, () => leftOf(clients, name, volumes));
}

/** `leftIn`: what is still there, in words. Throws InfrastructureError `PROBE_STAYS` with it. */
export async function untilNamespaceGone(
  clients: ProbeClients,
  namespace: string,
  leftIn: () => Promise<readonly string[]>,
): Promise<void> {
  for (const endMs = nowMs() + goneMs; ; ) {
    const left = await leftIn().catch((error: unknown) => [String(error)]);
    if (left.length === 0) return;
    if (nowMs() > endMs) {
      throw new InfrastructureError('PROBE_STAYS', `after ${goneMs / 1000} s: ${left.join(', ')}`, {
        hint: 'their removal has begun; look again later, and read the events of the driver',
        command: kubectl(clients, whereToLook(namespace, left)),
      });
    }
    await sleep(lookMs);
  }
}

/** Words for kubectl that show why it stays: of a volume the driver's words are events of its own, and its namespace is gone. */
function whereToLook(namespace: string, left: readonly string[]): string {
  const [, volume] = /^the volume (\S+)/.exec(left[0] ?? '') ?? [];
  return volume === undefined ? `get all,pvc,events -n ${namespace}` : `describe pv ${volume}`;
}

/** Some of them were promised minutes. What fails here is left to the end of what they lie in. */
export async function endPods(
  { core }: ProbeClients,
  namespace: string,
  labelSelector?: string,
): Promise<void> {
  const which = { namespace, ...(labelSelector === undefined ? {} : { labelSelector }) };
  const pods = await core.listNamespacedPod(which).catch(() => ({ items: [] }));
  const ends = pods.items.map(({ metadata }) =>
    core.deleteNamespacedPod({ name: metadata?.name ?? '', namespace, gracePeriodSeconds: 1 }),
  );
  await Promise.allSettled(ends);
}

async function leftOf(
  clients: ProbeClients,
  name: string,
  volumes: readonly string[],
): Promise<string[]> {
  const space = await orMissing(clients.core.readNamespace({ name }));
  if (space !== undefined) {
    const why = space.status?.conditions?.find(
      ({ type, status }) => type === 'NamespaceContentRemaining' && status === 'True',
    );
    return [`the namespace ${name} is ${space.status?.phase}: ${why?.message ?? 'no reason yet'}`];
  }
  return volumesLeft(clients, volumes);
}

/** Names those that are still there, in words. */
export async function volumesLeft(
  { core }: ProbeClients,
  volumes: readonly string[],
): Promise<string[]> {
  const there = await Promise.all(
    volumes.map((volume) => orMissing(core.readPersistentVolume({ name: volume }))),
  );
  return there.flatMap((volume) =>
    volume === undefined ? [] : [`the volume ${volume.metadata?.name} is ${volume.status?.phase}`],
  );
}

/** State of who made a namespace, or a claim in one that was given. */
export function stateOf({ metadata }: Pick<V1Namespace, 'metadata'>): OwnerState {
  const owner = decodeOwner(metadata?.annotations?.[ownerAnnotation] ?? '');
  return owner === undefined ? 'unknown' : ownerState(owner);
}

/** Undefined where it may go: its owner is dead, or may be, and its time is over. */
export function whyKept(space: V1Namespace, atMs: number): string | undefined {
  const { metadata } = space;
  const state = stateOf(space);
  if (state === 'alive') return 'its probe runs';
  const expires = Date.parse(metadata?.annotations?.[expiryAnnotation] ?? '');
  if (state === 'dead' || expires <= atMs) return undefined;
  const until = Number.isNaN(expires) ? '' : ` until ${new Date(expires).toISOString()}`;
  return `its probe may run on another machine${until}`;
}
