/**
 * Where a run is at home: a namespace of its own, or one that somebody made for probes, so that rights need not
 * reach further than that. All that a run makes lies there, or goes with it (volumes and their attachments), and
 * says whose it is and for how long. A given one stays, with all that the run did not make.
 */
import { randomBytes } from 'node:crypto';
import type { V1Namespace, V1PersistentVolumeClaim, V1Pod, V1Taint } from '@kubernetes/client-node';
import pRetry from 'p-retry';
import {
  InfrastructureError,
  changeTaints,
  orMissing,
  statusOf,
  currentOwner,
  decodeOwner,
  encodeOwner,
  ownerState,
  type OwnerState,
  outOfServiceKey,
  typed,
  type UserClients,
  answered,
  mustBeAllowed,
} from '../core/index.ts';
import {
  type PodSecurity,
  expiryAnnotation,
  givenValue,
  namespaceObject,
  ownerAnnotation,
  probeLabel,
  securityLabel,
} from './objects.ts';
import { type Home, markNeeds } from './rights.ts';
import { refusal } from './refusals.ts';
import { nowMs, poll, whyOf } from './view.ts';

export const newProbeNamespace = (): string =>
  `forcedetach-probe-${randomBytes(4).toString('hex')}`;
export const isProbesName = (name = ''): boolean => /^forcedetach-probe-[0-9a-f]{8}$/.test(name);

/** `given`: the name of one that is there. */
export const newHome = (given: string | undefined): Home => ({
  namespace: given ?? newProbeNamespace(),
  isGiven: given !== undefined,
});

export const removal = ({ namespace, isGiven }: Home): string =>
  isGiven ? `--clean --namespace ${namespace}` : '--clean';

/** For all that is not the watch: volumes and pods come and go, somebody grants a right. */
const besideWatchMs = 3_600_000;

export interface Lease {
  /** The longest that the plan watches for. */
  readonly watchMs: number;
  readonly security: PodSecurity;
}

export const ownerNow = (): string => encodeOwner(currentOwner());

export const namespaceNow = (name: string, { watchMs, security }: Lease): V1Namespace =>
  namespaceObject(name, ownerNow(), new Date(nowMs() + watchMs + besideWatchMs), security);

/**
 * Does `work` there, and takes away all that it made, whatever came. What stays is told in `left`; where
 * the work itself failed, that is what is thrown. Throws UsageError `NAMESPACE_…`, too, and as `answered` does.
 */
export async function atHome<T extends object>(
  {
    clients,
    home,
    say,
    ...lease
  }: Lease & { clients: UserClients; home: Home; say: (line: string) => void },
  work: () => Promise<T>,
): Promise<T & { readonly left?: string }> {
  // What is found in a given one is not ours to remove.
  if (home.isGiven) await mustBeFree(clients, home.namespace, lease);
  const [done] = await Promise.allSettled([
    home.isGiven ? work() : makeNamespace(clients, home.namespace, lease).then(work),
  ]);
  say('removing everything that the probe made');
  const [closed] = await Promise.allSettled([closeHome(clients, home)]);
  const left = closed.status === 'rejected' ? whyOf(closed.reason) : undefined;
  if (left !== undefined) say(left);
  if (done.status === 'rejected') throw done.reason;
  return { ...done.value, ...(left !== undefined && { left }) };
}

/** Throws as `answered` does. */
export async function makeNamespace(
  clients: UserClients,
  name: string,
  lease: Lease,
): Promise<void> {
  const body = namespaceNow(name, lease);
  await answered(clients, 'made a namespace', clients.core.createNamespace({ body }));
}

/** Throws UsageError `NAMESPACE_NOT_GIVEN`, `NAMESPACE_IN_USE`, `NAMESPACE_TOO_STRICT`; as `answered` does. */
async function mustBeFree(clients: UserClients, namespace: string, lease: Lease): Promise<void> {
  const labels = await labelsOfGiven(clients, namespace);
  if (lease.security === 'privileged' && labels[securityLabel] !== 'privileged') {
    throw refusal(
      'NAMESPACE_TOO_STRICT',
      `pods in ${namespace} may not enter their node, which a cut needs`,
      { at: clients, look: `label namespace ${namespace} ${securityLabel}=privileged` },
    );
  }
  const home = { namespace, isGiven: true };
  const there = [...(await podsIn(clients, home)), ...(await claimsIn(clients, home))];
  if (there.length === 0) return;
  throw refusal(
    'NAMESPACE_IN_USE',
    `objects of another probe are in ${namespace}: ${there.map(nameOf).join(', ')}`,
    { command: typed('probe', ['--clean', '--namespace', namespace]) },
  );
}

async function labelsOfGiven(
  clients: UserClients,
  name: string,
): Promise<Readonly<Record<string, string>>> {
  const found = await readSpace(clients, name);
  const labels = found?.metadata?.labels ?? {};
  if (labels[probeLabel] === givenValue) return labels;
  const what = found === undefined ? 'is not there' : 'was not made for probes';
  throw refusal('NAMESPACE_NOT_GIVEN', `the namespace ${name} ${what}`, {
    hint: `--rbac --namespace ${name} prints one with its label, and the rights in it`,
    ...{ at: clients, look: `label namespace ${name} ${probeLabel}=${givenValue}` },
  });
}

const readSpace = (clients: UserClients, name: string): Promise<V1Namespace | undefined> =>
  answered(clients, `read the namespace ${name}`, orMissing(clients.core.readNamespace({ name })));

/**
 * Takes away what was made there, and before that a mark that a cut has left on a node. Throws as
 * `untaintNodes` and `answered` do, InfrastructureError `PROBE_STAYS` with what is left after three minutes. An
 * API server that cannot be reached is asked again for six seconds.
 */
export const closeHome = (clients: UserClients, home: Home): Promise<void> =>
  pRetry(
    async () => {
      if (home.isGiven) await labelsOfGiven(clients, home.namespace);
      await untaintNodes(clients, home.namespace);
      await emptyHome(clients, home);
    },
    { retries: 5, minTimeout: 200, shouldRetry: ({ error }) => isUnreachable(error) },
  );

/** The server closes a connection that was idle just when a request comes on it (ECONNRESET). */
const isUnreachable = (error: unknown): boolean =>
  error instanceof InfrastructureError && error.code === 'CLUSTER_UNREACHABLE';

export async function emptyHome(clients: UserClients, home: Home): Promise<void> {
  const { core } = clients;
  const { namespace, isGiven } = home;
  const found = await readSpace(clients, namespace);
  if (found === undefined) return;
  if (found.metadata?.labels?.[probeLabel] === undefined) {
    throw refusal('NOT_OURS', `the namespace ${namespace} has no label of a probe`);
  }
  const claims = await claimsIn(clients, home);
  const volumes = claims.flatMap(({ spec }) => spec?.volumeName ?? []);
  await endPods(clients, home);
  if (isGiven) {
    for (const name of claims.map(nameOf)) {
      const removing = orMissing(core.deleteNamespacedPersistentVolumeClaim({ name, namespace }));
      await answered(clients, `removed the claim ${name}`, removing);
    }
  } else {
    const body = { preconditions: { uid: found.metadata.uid ?? '' } };
    const removing = orMissing(core.deleteNamespace({ name: namespace, body }));
    await answered(clients, `removed the namespace ${namespace}`, removing);
  }
  await untilGone(clients, namespace, async () => {
    const there = isGiven
      ? [...(await podsIn(clients, home)), ...(await claimsIn(clients, home))].map(nameOf)
      : await namespaceLeft(clients, namespace);
    const after = isGiven || there.length === 0 ? await volumesLeft(clients, volumes) : [];
    return [...there, ...after];
  });
}

const goneMs = 180_000;

/** `leftIn`: what is still there, in words. Throws InfrastructureError `PROBE_STAYS` with it. */
export async function untilGone(
  clients: UserClients,
  namespace: string,
  leftIn: () => Promise<readonly string[]>,
): Promise<void> {
  const late = (left: string): Error => {
    // Of a volume the driver's words are events of its own, and its namespace is gone.
    const [, volume] = /^the volume (\S+)/.exec(left) ?? [];
    const look =
      volume === undefined ? `get all,pvc,events -n ${namespace}` : `describe pv ${volume}`;
    return refusal('PROBE_STAYS', `after ${goneMs / 1000} s: ${left}`, { at: clients, look });
  };
  await poll({ timeoutMs: goneMs, late }, async () => {
    const left = await leftIn().catch((error: unknown) => [String(error)]);
    return left.length === 0 || left.join(', ');
  });
}

/** Selects what a run makes in one that was given; in one of its own all is. */
const which = ({ namespace, isGiven }: Home) => ({
  ...{ namespace, ...(isGiven && { labelSelector: `${probeLabel}=yes` }) },
});
const nameOf = ({ metadata }: Pick<V1Pod, 'metadata'>): string => metadata?.name ?? '';

async function podsIn(clients: UserClients, home: Home): Promise<readonly V1Pod[]> {
  const listing = clients.core.listNamespacedPod(which(home));
  return (await answered(clients, `listed what is in ${home.namespace}`, listing)).items;
}

export async function claimsIn(
  clients: UserClients,
  home: Home,
): Promise<readonly V1PersistentVolumeClaim[]> {
  const listing = clients.core.listNamespacedPersistentVolumeClaim(which(home));
  return (await answered(clients, `listed the claims in ${home.namespace}`, listing)).items;
}

/** Some of them were promised minutes. What fails here is left to the end of what they lie in. */
async function endPods(clients: UserClients, home: Home): Promise<void> {
  const pods = await podsIn(clients, home).catch(() => []);
  const { namespace } = home;
  const ends = pods.map((pod) =>
    clients.core.deleteNamespacedPod({ name: nameOf(pod), namespace, gracePeriodSeconds: 1 }),
  );
  await Promise.allSettled(ends);
}

async function namespaceLeft({ core }: UserClients, name: string): Promise<string[]> {
  const space = await orMissing(core.readNamespace({ name }));
  if (space === undefined) return [];
  const why = space.status?.conditions?.find(
    ({ type, status }) => type === 'NamespaceContentRemaining' && status === 'True',
  );
  return [`the namespace ${name} is ${space.status?.phase}: ${why?.message ?? 'no reason yet'}`];
}

async function volumesLeft({ core }: UserClients, volumes: readonly string[]): Promise<string[]> {
  const there = await Promise.all(
    volumes.map((name) => orMissing(core.readPersistentVolume({ name }))),
  );
  return there.flatMap((volume) =>
    volume === undefined ? [] : [`the volume ${nameOf(volume)} is ${volume.status?.phase}`],
  );
}

export function stateOf({ metadata }: Pick<V1Namespace, 'metadata'>): OwnerState {
  const owner = decodeOwner(metadata?.annotations?.[ownerAnnotation] ?? '');
  return owner === undefined ? 'unknown' : ownerState(owner);
}

/** Undefined where it may go: its owner is dead, or may be, and its time is over. */
export function whyKept(space: V1Namespace, atMs: number): string | undefined {
  const state = stateOf(space);
  if (state === 'alive') return 'its probe runs';
  const expires = Date.parse(space.metadata?.annotations?.[expiryAnnotation] ?? '');
  if (state === 'dead' || expires <= atMs) return undefined;
  const until = Number.isNaN(expires) ? '' : ` until ${new Date(expires).toISOString()}`;
  return `its probe may run on another machine${until}`;
}

/** The out-of-service mark of a probe: its value is the probe's namespace, so that it is known as ours. */
const isOurs =
  (namespace: string) =>
  ({ key, value }: V1Taint): boolean =>
    key === outOfServiceKey && value === namespace;

/** Nobody else's is ever taken away. Throws as the API does. */
export const mark = (
  clients: UserClients,
  name: string,
  namespace: string,
  isMarked: boolean,
): Promise<void> =>
  changeTaints(
    clients,
    name,
    (taints) => {
      const others = taints.filter((taint) => !isOurs(namespace)(taint));
      const ours = { key: outOfServiceKey, value: namespace, effect: 'NoExecute' };
      const changed = isMarked ? [...others, ours] : others;
      return JSON.stringify(changed) === JSON.stringify(taints) ? undefined : changed;
    },
    // Half a minute has gone by already: who waits wants to hear of it.
    { minTimeout: 200, shouldRetry: ({ error }) => statusOf(error) !== 403 && !isSilent(error) },
  );

const isSilent = (error: unknown): boolean =>
  error instanceof InfrastructureError && error.code === 'API_SILENT';

/**
 * Wherever a cut whose probe was killed has left it. Throws InfrastructureError `CLUSTER_FORBIDDEN` where there
 * is one, and it may not be taken away; as `answered` does.
 */
export async function untaintNodes(clients: UserClients, namespace: string): Promise<void> {
  const { items } = await answered(clients, 'listed the nodes', clients.core.listNode());
  const marked = items.filter(({ spec }) => spec?.taints?.some(isOurs(namespace))).map(nameOf);
  await mustBeAllowed(clients, marked.flatMap(markNeeds));
  for (const name of marked) {
    await answered(clients, `took our taint from ${name}`, mark(clients, name, namespace, false));
  }
}
