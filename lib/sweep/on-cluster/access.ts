/** The cluster that the user's kubeconfig names, and whether a sweep may run there. */
import type { AuthorizationV1Api, BatchV1Api, CoreV1Api } from '@kubernetes/client-node';
import { mustBeAllowed, userKubeConfig, type Need, type UserCluster } from '../../user-cluster.ts';

export interface SweepClients extends UserCluster {
  readonly core: CoreV1Api;
  readonly batch: BatchV1Api;
  readonly authorization: AuthorizationV1Api;
}

/** Asks the cluster nothing. `kubeconfig` and what is thrown: as of `userKubeConfig`. */
export async function accessTo(
  wanted: string | undefined,
  kubeconfig?: string,
): Promise<SweepClients> {
  const { config, ...cluster } = await userKubeConfig(wanted, kubeconfig);
  const kubernetes = await import('@kubernetes/client-node');
  return {
    ...cluster,
    core: config.makeApiClient(kubernetes.CoreV1Api),
    batch: config.makeApiClient(kubernetes.BatchV1Api),
    authorization: config.makeApiClient(kubernetes.AuthorizationV1Api),
  };
}

/** What a sweep does there. The first two are asked for the whole cluster. */
const needs: readonly Need[] = [
  { verb: 'create', resource: 'namespaces' },
  { verb: 'delete', resource: 'namespaces' },
  { verb: 'create', resource: 'configmaps' },
  { verb: 'create', group: 'batch', resource: 'jobs' },
  { verb: 'get', group: 'batch', resource: 'jobs' },
  { verb: 'list', resource: 'pods' },
  { verb: 'get', resource: 'pods', subresource: 'log' },
];

/**
 * Asks the cluster, and creates nothing. `namespace`: one that will be. Throws InfrastructureError
 * `CLUSTER_FORBIDDEN`, and as `answered` does.
 */
export const mustBeAllowedIn = (access: SweepClients, namespace: string): Promise<void> =>
  mustBeAllowed(
    access,
    needs.map((need) => (need.resource === 'namespaces' ? need : { ...need, namespace })),
  );
