/**
 * Where a run is at home: a namespace of its own, or one that somebody made for probes, so that rights
 * need not reach further than that. A given one stays, with all that the run did not make.
 */
import { orMissing } from '../../kube.ts';
import { UsageError } from '../../errors.ts';
import { typed } from '../../typed.ts';
import { answered, kubectl } from '../../user-cluster.ts';
import type { ProbeClients } from '../clients.ts';
import type { Home } from '../rights.ts';
import { givenValue, probeLabel, securityLabel } from './objects.ts';
import {
  endPods,
  makeNamespace,
  newProbeNamespace,
  removeNamespace,
  untilNamespaceGone,
  volumesLeft,
  type NamespaceRequest,
} from './namespace.ts';
import { untaintNodes } from './taint.ts';
import { whyOf } from './view.ts';

/** `given`: the name of one that is there. */
export const newHome = (given: string | undefined): Home => ({
  namespace: given ?? newProbeNamespace(),
  isGiven: given !== undefined,
});

export const removal = ({ namespace, isGiven }: Home): string =>
  isGiven ? `--clean --namespace ${namespace}` : '--clean';

/** Selects what a run makes in it. */
const labelSelector = `${probeLabel}=yes`;

export interface Stay extends NamespaceRequest {
  readonly clients: ProbeClients;
  readonly home: Home;
  readonly say: (line: string) => void;
}

/**
 * Does `work` there, and takes away all that it made, whatever came. What stays is told in `left`; where
 * the work itself failed, that is what is thrown. Throws as `openHome` does, too.
 */
export async function atHome<T extends object>(
  { clients, home, say, ...lease }: Stay,
  work: () => Promise<T>,
): Promise<T & { readonly left?: string }> {
  // What is found in a given one is not ours to remove.
  if (home.isGiven) await openHome(clients, home, lease);
  const [done] = await Promise.allSettled([
    home.isGiven ? work() : openHome(clients, home, lease).then(work),
  ]);
  say('removing everything that the probe made');
  const [closed] = await Promise.allSettled([closeHome(clients, home)]);
  const left = closed.status === 'rejected' ? whyOf(closed.reason) : undefined;
  if (left !== undefined) say(left);
  if (done.status === 'rejected') throw done.reason;
  return { ...done.value, ...(left === undefined ? {} : { left }) };
}

/** Throws UsageError `NAMESPACE_NOT_GIVEN`, `NAMESPACE_IN_USE`, `NAMESPACE_TOO_STRICT`; as `answered` does. */
async function openHome(
  clients: ProbeClients,
  { namespace, isGiven }: Home,
  lease: NamespaceRequest,
): Promise<void> {
  if (!isGiven) return makeNamespace(clients, namespace, lease);
  const labels = await labelsOfGiven(clients, namespace);
  if (lease.security === 'privileged' && labels[securityLabel] !== 'privileged') {
    throw new UsageError(
      'NAMESPACE_TOO_STRICT',
      `pods in ${namespace} may not enter their node, which a cut needs`,
      {
        hint: 'allow it while the cut lasts',
        command: kubectl(clients, `label namespace ${namespace} ${securityLabel}=privileged`),
      },
    );
  }
  const { pods, claims } = await madeIn(clients, namespace);
  if (pods.length + claims.length === 0) return;
  const there = [...pods, ...claims].join(', ');
  throw new UsageError(
    'NAMESPACE_IN_USE',
    `objects of another probe are in ${namespace}: ${there}`,
    {
      hint: 'wait if that probe still runs; if it was killed, remove what it left',
      command: typed('probe', ['--clean', '--namespace', namespace]),
    },
  );
}

async function labelsOfGiven(
  clients: ProbeClients,
  name: string,
): Promise<Readonly<Record<string, string>>> {
  const reading = orMissing(clients.core.readNamespace({ name }));
  const found = await answered(clients, `read the namespace ${name}`, reading);
  const labels = found?.metadata?.labels ?? {};
  if (labels[probeLabel] === givenValue) return labels;
  const what = found === undefined ? 'is not there' : 'was not made for probes';
  throw new UsageError('NAMESPACE_NOT_GIVEN', `the namespace ${name} ${what}`, {
    hint: `--rbac --namespace ${name} prints one with its label, and the rights in it`,
    command: kubectl(clients, `label namespace ${name} ${probeLabel}=${givenValue}`),
  });
}

/**
 * Takes away what was made there, and before that a mark that a cut has left on a node. Throws as
 * `untaintNodes` and `removeNamespace` do.
 */
export async function closeHome(
  clients: ProbeClients,
  { namespace, isGiven }: Home,
): Promise<void> {
  if (isGiven) await labelsOfGiven(clients, namespace);
  await untaintNodes(clients, namespace);
  if (!isGiven) return removeNamespace(clients, namespace);
  const { core } = clients;
  const { claims, volumes } = await madeIn(clients, namespace);
  await endPods(clients, namespace, labelSelector);
  for (const name of claims) {
    const removing = orMissing(core.deleteNamespacedPersistentVolumeClaim({ name, namespace }));
    await answered(clients, `removed the claim ${name}`, removing);
  }
  await untilNamespaceGone(clients, namespace, async () => {
    const left = await madeIn(clients, namespace);
    return [...left.pods, ...left.claims, ...(await volumesLeft(clients, volumes))];
  });
}

interface MadeObjects {
  readonly pods: readonly string[];
  readonly claims: readonly string[];
  /** Volumes of the claims. */
  readonly volumes: readonly string[];
}

async function madeIn(clients: ProbeClients, namespace: string): Promise<MadeObjects> {
  const which = { namespace, labelSelector };
  const { core } = clients;
  const listing = Promise.all([
    core.listNamespacedPod(which),
    core.listNamespacedPersistentVolumeClaim(which),
  ]);
  const [pods, claims] = await answered(clients, `listed what is in ${namespace}`, listing);
  const name = ({ metadata }: { metadata?: { name?: string } }): string => metadata?.name ?? '';
  return {
    pods: pods.items.map(name),
    claims: claims.items.map(name),
    volumes: claims.items.flatMap(({ spec }) => spec?.volumeName ?? []),
  };
}
