/** What a probe does on a cluster, as questions to it and as RBAC for whoever grants it. Pure. */
import type { Need } from '../user-cluster.ts';
import {
  type LimitedAccount,
  policyAnnotation,
  policyName,
  policyNeeds,
  policyObjects,
} from './policy.ts';
import { givenNamespaceObject } from './trials/objects.ts';

/** Without these nothing can be said of whether a class can be tried, and where. */
export const judgingNeeds = {
  driver: { verb: 'get', group: 'storage.k8s.io', resource: 'csidrivers' },
  registered: { verb: 'list', group: 'storage.k8s.io', resource: 'csinodes' },
  nodes: { verb: 'list', resource: 'nodes' },
} as const satisfies Readonly<Record<string, Need>>;

/** For the prediction. What is refused here is a line that says so. */
export const readNeeds: readonly Need[] = [
  ...(['get', 'list'] as const).map((verb) => ({
    ...{ verb, group: 'storage.k8s.io', resource: 'storageclasses' },
  })),
  ...Object.values(judgingNeeds),
  { verb: 'list', resource: 'pods' },
];

/** Where a run is at home: a namespace that it makes and removes, or one that it was given. */
export interface Home {
  /** Empty: one of its own whose name is not known yet. */
  readonly namespace: string;
  readonly isGiven: boolean;
}

/**
 * For the trials, beside those. An attachment's name is a hash of a volume that is not there yet: the
 * right to delete it can be limited to it once the volume is (`attachmentNeeds`), not before.
 */
export const trialNeeds = (home: Home): Need[] => [...homeNeeds(home), deletesAttachments];

const attachments = { group: 'storage.k8s.io', resource: 'volumeattachments' } as const;
const deletesAttachments: Need = { verb: 'delete', ...attachments };

/** To delete these alone. */
export const attachmentNeeds = (names: readonly string[]): Need[] =>
  names.map((name) => ({ ...deletesAttachments, name }));

/** All of the trials but the end of an attachment. */
export const homeNeeds = ({ namespace, isGiven }: Home): Need[] => [
  ...spaceNeeds({ namespace, isGiven }),
  { verb: 'get', resource: 'persistentvolumes' },
  { verb: 'get', ...attachments },
  ...(['create', 'list', ...(isGiven ? ['delete'] : [])] as const).map((verb) => ({
    ...{ verb, resource: 'persistentvolumeclaims', namespace },
  })),
  ...(['create', 'delete', 'list'] as const).map((verb) => ({
    ...{ verb, resource: 'pods', namespace },
  })),
  { verb: 'get', resource: 'pods', subresource: 'log', namespace },
  { verb: 'list', resource: 'events', namespace },
];

function spaceNeeds({ namespace, isGiven }: Home): Need[] {
  const named = namespace === '' ? {} : { name: namespace };
  const own = (verb: string): Need => ({ verb, resource: 'namespaces', ...named });
  if (isGiven) return [own('get')];
  return [{ verb: 'create', resource: 'namespaces' }, own('get'), own('delete')];
}

/** For a look at who else is there, before a cut. */
export const guardNeeds: readonly Need[] = [
  { verb: 'list', resource: 'pods' },
  { verb: 'get', resource: 'persistentvolumeclaims' },
  { verb: 'list', group: 'policy', resource: 'poddisruptionbudgets' },
];

/** Where Longhorn runs; where it doesn't nobody is asked for it. */
export const longhornNeeds: readonly Need[] = [
  {
    ...{ verb: 'get', group: 'longhorn.io', resource: 'settings', namespace: 'longhorn-system' },
    name: 'node-down-pod-deletion-policy',
  },
];

/** To set a node's taint, and to take it away. */
export const markNeeds = (node: string): Need[] =>
  (['get', 'patch'] as const).map((verb) => ({ verb, resource: 'nodes', name: node }));

/** For a cut of `node`: it deletes no attachment, reads that node, and marks it where that is the remedy. */
export const cutNeeds = (home: Home, node: string, marks: boolean): Need[] => [
  ...homeNeeds(home),
  ...guardNeeds,
  ...markNeeds(node).filter(({ verb }) => marks || verb === 'get'),
];

/** To find what outlived its namespace, or its claim: volumes, attachments, a mark on a node. */
export const leftNeeds: readonly Need[] = [
  { verb: 'list', resource: 'nodes' },
  { verb: 'list', resource: 'persistentvolumes' },
  { verb: 'list', ...attachments },
];

/** For `--clean`: to find what is left. */
export const cleanNeeds: readonly Need[] = [{ verb: 'list', resource: 'namespaces' }, ...leftNeeds];

/** To remove what a probe has left there. Part of `homeNeeds`. */
export const removalNeeds = ({ namespace, isGiven }: Home): Need[] => [
  ...spaceNeeds({ namespace, isGiven }).filter(({ verb }) => verb !== 'create'),
  { verb: 'get', resource: 'persistentvolumes' },
  { verb: 'list', resource: 'persistentvolumeclaims', namespace },
  // What lies in one of its own goes with it.
  ...(isGiven
    ? [
        { verb: 'delete', resource: 'persistentvolumeclaims', namespace },
        { verb: 'list', resource: 'pods', namespace },
        { verb: 'delete', resource: 'pods', namespace },
      ]
    : []),
];

interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** Needs as RBAC rules, those of one kind of object together. */
export function rulesOf(needs: readonly Need[]): PolicyRule[] {
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
 * A ClusterRole and its binding. What is needed in a namespace that was given is a Role there; a
 * namespace that the probe makes itself can't have one before, and its needs are in the ClusterRole.
 */
export function rbacObjects(
  name: string,
  needs: readonly Need[],
  { to, home }: { readonly to: Grantee; readonly home: Home },
): object[] {
  const isInside = ({ namespace }: Need): boolean =>
    home.isGiven && namespace === home.namespace && namespace !== '';
  const inside = needs.filter(isInside);
  const outside = needs.filter((need) => !isInside(need));
  return [
    ...(outside.length === 0 ? [] : roleAndBinding('ClusterRole', { name }, outside, to)),
    ...(inside.length === 0
      ? []
      : roleAndBinding('Role', { name, namespace: home.namespace }, inside, to)),
  ];
}

const rbac = 'rbac.authorization.k8s.io';

function roleAndBinding(
  kind: 'ClusterRole' | 'Role',
  metadata: { readonly name: string; readonly namespace?: string },
  needs: readonly Need[],
  to: Grantee,
): object[] {
  const group = to.kind === 'ServiceAccount' ? {} : { apiGroup: rbac };
  const apiVersion = `${rbac}/v1`;
  return [
    { apiVersion, kind, metadata, rules: rulesOf(needs) },
    {
      ...{ apiVersion, kind: `${kind}Binding`, metadata },
      subjects: [{ ...to, ...group }],
      roleRef: { apiGroup: rbac, kind, name: metadata.name },
    },
  ];
}

/** Grantee for a user as the API server calls it. */
export function granteeOf(username: string): Grantee {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(username) ?? [];
  return namespace === undefined || name === undefined
    ? { kind: 'User', name: username }
    : { kind: 'ServiceAccount', name, namespace };
}

interface Granted {
  readonly home: Home;
  /** Default: trials. */
  readonly cut?: { readonly node: string; readonly marks: boolean };
  /** The end of attachments is granted by their names, once those are known. */
  readonly grantsLater: boolean;
  readonly to: Grantee;
}

function needsOf({ home, cut, grantsLater }: Granted): Need[] {
  const trials = grantsLater ? homeNeeds(home) : trialNeeds(home);
  return [
    ...readNeeds,
    ...(cut === undefined ? trials : [...cutNeeds(home, cut.node, cut.marks), ...longhornNeeds]),
    // A given namespace need not be found.
    ...(home.isGiven ? leftNeeds : cleanNeeds),
  ];
}

/**
 * Whom a policy limits: who may end attachments without their names, in a namespace that is known. A policy
 * of a person would be in the way of their other work.
 */
function limitedBy({ home, cut, grantsLater, to }: Granted): LimitedAccount | undefined {
  const { kind, namespace } = to;
  const isBare = home.isGiven && cut === undefined && !grantsLater;
  return isBare && kind === 'ServiceAccount' && namespace !== undefined
    ? { name: to.name, namespace }
    : undefined;
}

/** A namespace that is given comes first, and what limits a right before the right. */
export function grantedObjects(granted: Granted): object[] {
  const { home, cut, to } = granted;
  const { namespace } = home;
  const security = cut === undefined ? 'baseline' : 'privileged';
  const limited = limitedBy(granted);
  const needs = [...needsOf(granted), ...(limited === undefined ? [] : policyNeeds(namespace))];
  const annotations = limited === undefined ? {} : { [policyAnnotation]: policyName(namespace) };
  return [
    ...(home.isGiven ? [givenNamespaceObject(namespace, security, annotations)] : []),
    ...(limited === undefined ? [] : policyObjects(namespace, limited)),
    ...rbacObjects(to.name.replaceAll(/[^a-z0-9.-]/gi, '-').toLowerCase(), needs, { to, home }),
  ];
}
