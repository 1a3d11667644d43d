/** The out-of-service mark of a probe: its value is the probe's namespace, so that it is known as ours. */
import type { V1Taint } from '@kubernetes/client-node';
import { changeTaints, statusOf } from '../../kube.ts';
import { InfrastructureError } from '../../errors.ts';
import { outOfServiceKey } from '../../taints.ts';
import { answered, mustBeAllowed } from '../../user-cluster.ts';
import type { ProbeClients } from '../clients.ts';
import { markNeeds } from '../rights.ts';

export const isOurTaint =
  (namespace: string) =>
  ({ key, value }: V1Taint): boolean =>
    key === outOfServiceKey && value === namespace;

/** Throws as the API does. */
export const taintOutOfService = (
  clients: ProbeClients,
  name: string,
  namespace: string,
): Promise<void> =>
  changeOurs(clients, name, (taints) => [
    ...taints.filter((taint) => !isOurTaint(namespace)(taint)),
    { key: outOfServiceKey, value: namespace, effect: 'NoExecute' },
  ]);

/** Nobody else's is ever taken away. Throws as the API does. */
export const untaint = (clients: ProbeClients, name: string, namespace: string): Promise<void> =>
  changeOurs(clients, name, (taints) => taints.filter((taint) => !isOurTaint(namespace)(taint)));

/**
 * Wherever a cut whose probe was killed has left it. Throws InfrastructureError `CLUSTER_FORBIDDEN` where there
 * is one, and it may not be taken away; as `answered` does.
 */
export async function untaintNodes(clients: ProbeClients, namespace: string): Promise<void> {
  const { items } = await answered(clients, 'listed the nodes', clients.core.listNode());
  const marked = items
    .filter(({ spec }) => spec?.taints?.some(isOurTaint(namespace)))
    .map(({ metadata }) => metadata?.name ?? '');
  await mustBeAllowed(clients, marked.flatMap(markNeeds));
  for (const name of marked) {
    await answered(clients, `took our taint from ${name}`, untaint(clients, name, namespace));
  }
}

const changeOurs = (
  clients: ProbeClients,
  name: string,
  change: (taints: readonly V1Taint[]) => readonly V1Taint[],
): Promise<void> =>
  changeTaints(
    clients,
    name,
    (taints) => {
      const changed = change(taints);
      return JSON.stringify(changed) === JSON.stringify(taints) ? undefined : changed;
    },
    // Half a minute has gone by already: who waits wants to hear of it.
    {
      minTimeout: 200,
      shouldRetry: ({ error }) => statusOf(error) !== 403 && !isSilent(error),
    },
  );

const isSilent = (error: unknown): boolean =>
  error instanceof InfrastructureError && error.code === 'API_SILENT';
