/** The group on the cluster: three servers on three volumes and nodes, and the clean slate after it. */
import { randomUUID } from 'node:crypto';
import type { V1Pod } from '@kubernetes/client-node';
import { driverName } from '../../storage/index.ts';
import { type GroupDatabase, type Database, tolerationSecondsOf } from '../../run/index.ts';
import { groupSize, type Scenario } from '../../scenario/index.ts';
import { apply, isReady, type KubeClients, waitFor } from '../../core/index.ts';
import type { ClientSide, PodRef } from '../../history/index.ts';
import type { Relays } from '../clients/relay.ts';
import { removeLabelled } from '../labelled.ts';
import { readManifest } from '../objects.ts';

const namespace = 'default';
/** Label of the members' pods and volumes. */
export const selectorOf = ({ template }: GroupDatabase): string => `app=${template.name}`;

export interface MemberPod extends PodRef {
  readonly ip: string;
  /** Another one after each start of its container. */
  readonly incarnation: string;
}

export interface GroupDatabaseOptions {
  readonly database: Database;
  readonly group: GroupDatabase;
  readonly scenario: Scenario;
  readonly image: string;
  /** CSI volumes, one a member; their images exist already. */
  readonly volumeHandles: readonly string[];
  readonly sizeBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** Resolves once every pod is Ready; the servers know nothing of each other yet. */
export async function deployGroup(
  clients: KubeClients,
  options: GroupDatabaseOptions,
): Promise<readonly MemberPod[]> {
  const { database, group, scenario, image, sizeBytes, signal } = options;
  for (const [member, handle] of options.volumeHandles.entries()) {
    const values = { MEMBER: member, SIZE_BYTES: sizeBytes, DRIVER: driverName };
    const volume = { ...values, VOLUME_HANDLE: handle };
    await apply(clients, await readManifest(`${database.name}/group-volume.yaml`, volume));
  }
  const values = {
    ...group.template.values(image, scenario, randomUUID()),
    SIZE_BYTES: sizeBytes,
    TOLERATION_SECONDS: tolerationSecondsOf(scenario.tolerationMs),
  };
  await apply(clients, await readManifest(`${database.name}/group.yaml`, values));
  const what = `the ${groupSize} members' pods are Ready`;
  const command = `kubectl describe pods --selector ${selectorOf(group)}`;
  return waitFor({ what, timeoutMs: 240_000, signal, command }, async () => {
    const pods = await memberPods(clients, group);
    const ready = pods.filter((pod) => pod.ready);
    return ready.length === groupSize ? ready : `${ready.length} of ${groupSize} are`;
  });
}

/** Those that have an address and run, in the order of their ordinals. */
export async function memberPods(
  { core }: KubeClients,
  group: GroupDatabase,
): Promise<readonly (MemberPod & { readonly ready: boolean })[]> {
  const labelSelector = selectorOf(group);
  const { items } = await core.listNamespacedPod({ namespace, labelSelector });
  return items
    .flatMap((pod) => memberOf(pod) ?? [])
    .toSorted((a, b) => a.name.localeCompare(b.name));
}

function memberOf({ metadata, spec, status }: V1Pod): (MemberPod & { ready: boolean }) | undefined {
  const { name, uid } = metadata ?? {};
  const node = spec?.nodeName;
  const ip = status?.podIP;
  const [container] = status?.containerStatuses ?? [];
  if (name === undefined || uid === undefined || node === undefined || ip === undefined) {
    return undefined;
  }
  const incarnation = `${uid}/${container?.containerID ?? ''}`;
  return { name, uid, node, ip, incarnation, ready: isReady(status) };
}

/** Its members need no long goodbye: what they had is judged already. */
export function removeGroup(
  clients: KubeClients,
  group: GroupDatabase,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<void> {
  const { name } = group.template;
  const labelSelector = selectorOf(group);
  return removeLabelled(clients, {
    ...{ what: 'the group and its volumes', namespace, labelSelector, name, signal },
    ...{ gracePeriodSeconds: 5, volumePrefix: `forcedetach-${name}-` },
  });
}

export class MemberWays {
  readonly #clients: KubeClients;
  readonly #group: GroupDatabase;
  readonly #relays: Relays;
  readonly #pods = new Map<string, MemberPod>();
  /** By side, node and incarnation of the server. */
  readonly #paths = new Map<string, Promise<string>>();

  constructor(
    clients: KubeClients,
    group: GroupDatabase,
    relays: Relays,
    pods: readonly MemberPod[],
  ) {
    this.#clients = clients;
    this.#group = group;
    this.#relays = relays;
    for (const pod of pods) this.#pods.set(pod.node, pod);
  }

  get pods(): ReadonlyMap<string, MemberPod> {
    return this.#pods;
  }

  /** Asks the API again: a server that was started anew may have another address. */
  async refresh(): Promise<void> {
    for (const pod of await memberPods(this.#clients, this.#group)) this.#pods.set(pod.node, pod);
  }

  /** Path of a socket that leads to the member on that node, from its own side or from outside. */
  path(side: ClientSide, node: string): Promise<string> {
    const pod = this.#pods.get(node);
    if (pod === undefined) return Promise.reject(new Error(`${node} has no member`));
    const key = `${side} ${node} ${pod.incarnation} ${pod.ip}`;
    let path = this.#paths.get(key);
    if (path === undefined) {
      path = this.#relays.open(side, pod);
      this.#paths.set(key, path);
      path.catch(() => this.#paths.delete(key));
    }
    return path;
  }
}
