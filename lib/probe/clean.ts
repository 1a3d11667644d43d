/**
 * What killed probes left. A namespace is found by our label, and removed where its probe is gone; all of
 * them are tried, whatever becomes of one. What has outlived its namespace is found by that one's name: a
 * mark is taken from its node, a volume is named, since its driver alone can let it go.
 */
import type { V1ObjectReference } from '@kubernetes/client-node';
import {
  ForcedetachError,
  InfrastructureError,
  outOfServiceKey,
  type UserClients,
  answered,
  mustBeAllowed,
} from '../core/index.ts';
import { probeLabel } from './objects.ts';
import { type Home, cleanNeeds, leftNeeds, removalNeeds } from './rights.ts';
import { claimsIn, closeHome, isProbesName, stateOf, untaintNodes, whyKept } from './home.ts';
import { nowMs } from './view.ts';
import { isTrialName } from './plan.ts';
import { refusal } from './refusals.ts';

/** Throws InfrastructureError `CLUSTER_FORBIDDEN` before anything is removed, and as `answered` does. */
export async function cleanUp(clients: UserClients, say: (line: string) => void) {
  await mustBeAllowed(clients, cleanNeeds);
  // Before the namespaces: that of a volume which is made meanwhile is then among them.
  const [volumes, marks] = [await volumesOf(clients), await marksOf(clients)];
  const listing = clients.core.listNamespace({ labelSelector: `${probeLabel}=yes` });
  const { items } = await answered(clients, 'listed the namespaces of probes', listing);
  const spaces = items.map((space) => ({
    name: space.metadata?.name ?? '',
    why: whyKept(space, nowMs()),
  }));
  const isLost = (namespace = ''): boolean =>
    isProbesName(namespace) && spaces.every(({ name }) => name !== namespace);
  const homes = spaces.flatMap(({ name: namespace, why }): Home[] =>
    why === undefined ? [{ namespace, isGiven: false }] : [],
  );
  await mustBeAllowed(clients, homes.flatMap(removalNeeds));
  const tasks = [
    ...homes.map((home) => ({ what: home.namespace, end: () => closeHome(clients, home) })),
    ...marks.filter(isLost).map((namespace) => ({
      ...{ what: `the mark of ${namespace}`, end: () => untaintNodes(clients, namespace) },
    })),
  ];
  const ended = await Promise.allSettled(
    tasks.map(({ what, end }) => {
      say(`removing ${what}`);
      return end();
    }),
  );
  const stays = [
    ...ended.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : [])),
    ...(await outliving(clients, volumes, ({ namespace }) => isLost(namespace))),
  ];
  return {
    removed: tasks.flatMap(({ what }, at) => (ended[at]?.status === 'fulfilled' ? [what] : [])),
    /** Those of others, each with the reason. */
    left: spaces.flatMap(({ name, why }) => (why === undefined ? [] : [{ name, why }])),
    /** `PROBE_STAYS`: something that may go is still there. */
    ...(stays.length > 0 && { error: asOne(stays) }),
  };
}

/**
 * One that was made for probes; it stays. Throws UsageError `NAMESPACE_IN_USE` where a probe of this machine runs
 * there, InfrastructureError `PROBE_STAYS`; as `cleanUp` and `closeHome` do.
 */
export async function cleanGiven(clients: UserClients, namespace: string): Promise<void> {
  const home = { namespace, isGiven: true };
  await mustBeAllowed(clients, [...leftNeeds, ...removalNeeds(home)]);
  const living = (await claimsIn(clients, home)).filter((claim) => stateOf(claim) === 'alive');
  if (living.length > 0) {
    const names = living.map(({ metadata }) => metadata?.name).join(', ');
    throw refusal('NAMESPACE_IN_USE', `a probe runs in ${namespace}: ${names}`, {
      hint: 'wait until it ends, or end it with Ctrl-C; it then removes what it made',
      ...{ at: clients, look: `get pods,pvc -n ${namespace}` },
    });
  }
  await closeHome(clients, home);
  const volumes = await volumesOf(clients);
  const all = await claimsIn(clients, { namespace, isGiven: false });
  const claims = new Set(all.map(({ metadata }) => metadata?.uid));
  const [first] = await outliving(
    clients,
    volumes,
    (claim) => claim.namespace === namespace && isTrialName(claim.name) && !claims.has(claim.uid),
  );
  if (first !== undefined) throw first;
}

type LeftVolume = Awaited<ReturnType<typeof volumesOf>>[number];

async function volumesOf(clients: UserClients) {
  const listing = clients.core.listPersistentVolume();
  const { items } = await answered(clients, 'listed the volumes', listing);
  return items.map(({ metadata, spec, status }) => ({
    ...{ name: metadata?.name ?? '', phase: status?.phase ?? '', claim: spec?.claimRef ?? {} },
  }));
}

/** Values of the probes' marks on nodes, each once. */
async function marksOf(clients: UserClients): Promise<string[]> {
  const { items } = await answered(clients, 'listed the nodes', clients.core.listNode());
  const taints = items.flatMap(({ spec }) => spec?.taints ?? []);
  const values = taints.flatMap(({ key, value }) => (key === outOfServiceKey ? [value ?? ''] : []));
  return [...new Set(values)];
}

/** No error where none of these volumes is of a claim that is gone; else one that names them all. */
async function outliving(
  clients: UserClients,
  volumes: readonly LeftVolume[],
  isLost: (claim: V1ObjectReference) => boolean,
): Promise<InfrastructureError[]> {
  const lost = volumes.filter(({ claim }) => isLost(claim));
  if (lost.length === 0) return [];
  const listing = clients.storage.listVolumeAttachment();
  const { items } = await answered(clients, 'listed the attachments', listing);
  const [words, objects]: [string[], string[]] = [[], []];
  for (const { name, phase } of lost) {
    words.push(`the volume ${name} is ${phase}`);
    objects.push(`persistentvolume/${name}`);
    for (const { metadata, spec } of items) {
      if (spec.source.persistentVolumeName !== name) continue;
      words.push(`its attachment ${metadata?.name} is there`);
      objects.push(`volumeattachment/${metadata?.name}`);
    }
  }
  return [
    refusal('PROBE_STAYS', words.join(', '), {
      hint: 'the driver does not release them; its events give the reason. The probe removes no finalizer: do that only if you know the driver',
      ...{ at: clients, look: `describe ${objects.join(' ')}` },
    }),
  ];
}

/** All that they say, and what the first one advises. */
function asOne(reasons: readonly unknown[]): InfrastructureError {
  const [first, ...others] = reasons;
  if (others.length === 0 && first instanceof InfrastructureError) return first;
  const said = reasons.map((reason) => (reason instanceof Error ? reason.message : String(reason)));
  const { hint, command } = first instanceof ForcedetachError ? first : {};
  return refusal('PROBE_STAYS', said.join('; '), {
    ...(hint !== undefined && { hint }),
    ...(command !== undefined && { command }),
    cause: first,
  });
}
