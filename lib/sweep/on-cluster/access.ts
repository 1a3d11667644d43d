/** The cluster that the user's kubeconfig names, and whether a sweep may run there. */
import { type Need, type UserClients, mustBeAllowed } from '../../core/index.ts';

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
export const mustBeAllowedIn = (access: UserClients, namespace: string): Promise<void> =>
  mustBeAllowed(
    access,
    needs.map((need) => (need.resource === 'namespaces' ? need : { ...need, namespace })),
  );
