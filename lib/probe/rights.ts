/** What a probe does on a cluster, as questions to it and as RBAC for whoever grants it. */
import { type Need } from '../user-cluster.ts';

/** For the prediction. What is refused here is a line that says so. */
export const readNeeds: readonly Need[] = [
  { verb: 'get', group: 'storage.k8s.io', resource: 'storageclasses' },
  { verb: 'get', group: 'storage.k8s.io', resource: 'csidrivers' },
  { verb: 'list', group: 'storage.k8s.io', resource: 'csinodes' },
  { verb: 'list', resource: 'nodes' },
  { verb: 'list', resource: 'pods' },
];

/**
 * For the trials, beside those. An attachment's name is a hash of a volume that is not there yet, so
 * the right to delete one can't be limited to it; the probe deletes by name and uid, its own volumes'.
 * `namespace`: the one that will be; empty where that is not known.
 */
export const trialNeeds = (namespace: string): Need[] => [
  { verb: 'create', resource: 'namespaces' },
  ...(['get', 'delete'] as const).map((verb) => ({
    ...{ verb, resource: 'namespaces' },
    ...(namespace === '' ? {} : { name: namespace }),
  })),
  { verb: 'get', resource: 'persistentvolumes' },
  ...(['get', 'delete'] as const).map((verb) => ({
    ...{ verb, group: 'storage.k8s.io', resource: 'volumeattachments' },
  })),
  ...(['create', 'list'] as const).map((verb) => ({
    ...{ verb, resource: 'persistentvolumeclaims', namespace },
  })),
  ...(['create', 'delete', 'list'] as const).map((verb) => ({
    ...{ verb, resource: 'pods', namespace },
  })),
  { verb: 'get', resource: 'pods', subresource: 'log', namespace },
  { verb: 'list', resource: 'events', namespace },
];

/** For a cut, beside those of the trials: a node is read, and marked where that is the remedy. */
export const cutNeeds = (namespace: string, marks: boolean): Need[] => [
  ...trialNeeds(namespace),
  { verb: 'get', resource: 'nodes' },
  { verb: 'get', resource: 'persistentvolumeclaims' },
  ...(marks ? [{ verb: 'patch', resource: 'nodes' } as const] : []),
];

/** For `--clean`, beside those of the trials. */
export const cleanNeeds: readonly Need[] = [
  { verb: 'list', resource: 'namespaces' },
  { verb: 'list', resource: 'nodes' },
];

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** Needs as RBAC rules, those of one kind of object together. */
export function rulesOf(needs: readonly Need[]): Rule[] {
  const byObject = Map.groupBy(needs, ({ group = '', resource, subresource, verb, name }) =>
    // Nobody can be limited to the name of what is yet to be made.
    JSON.stringify([group, resource, subresource, verb === 'create' || name === undefined]),
  );
  return [...byObject.values()].map((same) => {
    const [{ group = '', resource, subresource } = { resource: '' }] = same;
    const names = [...new Set(same.flatMap(({ name }) => name ?? []))];
    return {
      apiGroups: [group],
      resources: [subresource === undefined ? resource : `${resource}/${subresource}`],
      verbs: [...new Set(same.map(({ verb }) => verb))],
      ...(names.length === 0 ? {} : { resourceNames: names }),
    };
  });
}

export interface Grantee {
  readonly kind: 'ServiceAccount' | 'User' | 'Group';
  readonly name: string;
  readonly namespace?: string;
}

/** For whom rights are printed. */
export const probeAccount: Grantee = {
  ...{ kind: 'ServiceAccount' as const, name: 'forcedetach-probe', namespace: 'default' },
};

/**
 * A ClusterRole and its binding. The needs in the probe's namespace are in it too, since that namespace
 * is made by the probe, and a Role can't be there before it.
 */
export function rbacObjects(name: string, needs: readonly Need[], to: Grantee): object[] {
  const rbac = 'rbac.authorization.k8s.io';
  const group = to.kind === 'ServiceAccount' ? {} : { apiGroup: rbac };
  return [
    {
      ...{ apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name } },
      rules: rulesOf(needs),
    },
    {
      ...{ apiVersion: `${rbac}/v1`, kind: 'ClusterRoleBinding', metadata: { name } },
      subjects: [{ ...to, ...group }],
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
    },
  ];
}
