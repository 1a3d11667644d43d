/** What a probe does on a cluster, as questions to it and as RBAC for whoever grants it. */
import { orMissing, type Need, type UserClients, answered } from '../core/index.ts';
import { givenNamespaceObject } from './objects.ts';
import { refusal } from './refusals.ts';

const need = (verb: string, resource: string, more: Partial<Need> = {}): Need => ({
  ...{ verb, ...more, resource },
});
const needs = (verbs: string, resource: string, more: Partial<Need> = {}): Need[] =>
  verbs.split(' ').map((verb) => need(verb, resource, more));

const storage = { group: 'storage.k8s.io' };

/** Without these nothing can be said of whether a class can be tried, and where. */
export const judgingNeeds = {
  driver: need('get', 'csidrivers', storage),
  registered: need('list', 'csinodes', storage),
  nodes: need('list', 'nodes'),
};

/** For the prediction. What is refused here is a line that says so. */
export const readNeeds: readonly Need[] = [
  ...needs('get list', 'storageclasses', storage),
  ...Object.values(judgingNeeds),
  need('list', 'pods'),
];

/** Where a run is at home: a namespace that it makes and removes, or one that it was given. */
export interface Home {
  /** Empty: one of its own whose name is not known yet. */
  readonly namespace: string;
  readonly isGiven: boolean;
}

const deletesAttachments = need('delete', 'volumeattachments', storage);

/**
 * For the trials, beside those. An attachment's name is a hash of a volume that is not there yet: the
 * right to delete it can be limited to it once the volume is (`attachmentNeeds`), not before.
 */
export const trialNeeds = (home: Home): Need[] => [...homeNeeds(home), deletesAttachments];

export const attachmentNeeds = (names: readonly string[]): Need[] =>
  names.map((name) => ({ ...deletesAttachments, name }));

export const homeNeeds = ({ namespace, isGiven }: Home): Need[] => [
  ...spaceNeeds({ namespace, isGiven }),
  need('get', 'persistentvolumes'),
  need('get', 'volumeattachments', storage),
  ...needs(isGiven ? 'create list delete' : 'create list', 'persistentvolumeclaims', { namespace }),
  ...needs('create delete list', 'pods', { namespace }),
  need('get', 'pods', { subresource: 'log', namespace }),
  need('list', 'events', { namespace }),
];

function spaceNeeds({ namespace, isGiven }: Home): Need[] {
  const named = namespace === '' ? {} : { name: namespace };
  return isGiven
    ? [need('get', 'namespaces', named)]
    : [need('create', 'namespaces'), ...needs('get delete', 'namespaces', named)];
}

/** For a look at who else is there, before a cut. */
export const guardNeeds: readonly Need[] = [
  need('list', 'pods'),
  need('get', 'persistentvolumeclaims'),
  need('list', 'poddisruptionbudgets', { group: 'policy' }),
];

/** Where Longhorn runs; where it doesn't nobody is asked for it. */
export const longhornNeeds: readonly [Need] = [
  need('get', 'settings', {
    ...{ group: 'longhorn.io', namespace: 'longhorn-system' },
    name: 'node-down-pod-deletion-policy',
  }),
];

export const markNeeds = (node: string): Need[] => needs('get patch', 'nodes', { name: node });

/** For a cut of `node`: it deletes no attachment, reads that node, and marks it where that is the remedy. */
export const cutNeeds = (home: Home, node: string, marks: boolean): Need[] => [
  ...homeNeeds(home),
  ...guardNeeds,
  ...markNeeds(node).filter(({ verb }) => marks || verb === 'get'),
];

/** To find what outlived its namespace, or its claim: volumes, attachments, a mark on a node. */
export const leftNeeds: readonly Need[] = [
  need('list', 'nodes'),
  need('list', 'persistentvolumes'),
  need('list', 'volumeattachments', storage),
];

export const cleanNeeds: readonly Need[] = [need('list', 'namespaces'), ...leftNeeds];

/** To remove what a probe has left there. Part of `homeNeeds`. */
export const removalNeeds = ({ namespace, isGiven }: Home): Need[] => [
  ...spaceNeeds({ namespace, isGiven }).filter(({ verb }) => verb !== 'create'),
  need('get', 'persistentvolumes'),
  // What lies in one of its own goes with it.
  ...needs(isGiven ? 'list delete' : 'list', 'persistentvolumeclaims', { namespace }),
  ...(isGiven ? needs('list delete', 'pods', { namespace }) : []),
];

export function rulesOf(asked: readonly Need[]) {
  const byObject = Map.groupBy(asked, ({ group = '', resource, subresource, verb, name }) =>
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
      ...(names.length > 0 && { resourceNames: names }),
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

export function granteeOf(username: string): Grantee {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(username) ?? [];
  return namespace === undefined || name === undefined
    ? { kind: 'User', name: username }
    : { kind: 'ServiceAccount', name, namespace };
}

/**
 * A ClusterRole and its binding. What is needed in a namespace that was given is a Role there; a
 * namespace that the probe makes itself can't have one before, and its needs are in the ClusterRole.
 */
export function rbacObjects(
  name: string,
  asked: readonly Need[],
  { to, home }: { readonly to: Grantee; readonly home: Home },
): object[] {
  const rbac = 'rbac.authorization.k8s.io';
  const isInside = ({ namespace }: Need): boolean =>
    home.isGiven && namespace === home.namespace && namespace !== '';
  const roles = [
    { kind: 'ClusterRole', metadata: { name }, of: asked.filter((each) => !isInside(each)) },
    { kind: 'Role', metadata: { name, namespace: home.namespace }, of: asked.filter(isInside) },
  ];
  return roles
    .filter(({ of }) => of.length > 0)
    .flatMap(({ kind, metadata, of }) => [
      { apiVersion: `${rbac}/v1`, kind, metadata, rules: rulesOf(of) },
      {
        ...{ apiVersion: `${rbac}/v1`, kind: `${kind}Binding`, metadata },
        subjects: [{ ...to, ...(to.kind === 'ServiceAccount' ? {} : { apiGroup: rbac }) }],
        roleRef: { apiGroup: rbac, kind, name },
      },
    ]);
}

export interface Granted {
  readonly home: Home;
  /** Default: trials. */
  readonly cut?: { readonly node: string; readonly marks: boolean } | undefined;
  /** The end of attachments is granted by their names, once those are known. */
  readonly grantsLater: boolean;
  readonly to: Grantee;
}

/** A namespace that is given comes first, and what limits a right before the right. */
export function grantedObjects({ home, cut, grantsLater, to }: Granted): object[] {
  const { namespace, isGiven } = home;
  const trials = grantsLater ? homeNeeds(home) : trialNeeds(home);
  // Who may end attachments without their names, in a namespace that is known. A policy of a person would be
  // in the way of their other work.
  const isLimited = isGiven && !cut && !grantsLater && to.kind === 'ServiceAccount';
  const asked = [
    ...readNeeds,
    ...(cut === undefined ? trials : [...cutNeeds(home, cut.node, cut.marks), ...longhornNeeds]),
    // A given namespace need not be found.
    ...(isGiven ? leftNeeds : cleanNeeds),
    ...(isLimited ? policyNeeds(namespace) : []),
  ];
  const annotations = isLimited ? { [policyAnnotation]: policyName(namespace) } : {};
  const security = cut === undefined ? 'baseline' : 'privileged';
  return [
    ...(isGiven ? [givenNamespaceObject(namespace, security, annotations)] : []),
    ...(isLimited ? policyObjects(namespace, to) : []),
    ...rbacObjects(to.name.replaceAll(/[^a-z0-9.-]/gi, '-').toLowerCase(), asked, { to, home }),
  ];
}

/** Annotation of a namespace: the policy that has to be there before an attachment is ended. */
export const policyAnnotation = 'forcedetach.probe/policy';

/** Name of the cluster's policy for one namespace. */
export const policyName = (namespace: string): string => `forcedetach-probe-${namespace}`;

const admission = 'admissionregistration.k8s.io';
const binding = 'validatingadmissionpolicybindings';

/** To see that it is there. */
const policyNeeds = (namespace: string): Need[] => [
  need('get', binding, { group: admission, name: policyName(namespace) }),
];

const attachedVolume = 'oldObject.spec.source.persistentVolumeName';

/**
 * A ValidatingAdmissionPolicy and its binding, for this account alone: it may end attachments of volumes of one
 * namespace only. RBAC limits by name, and an attachment's is a hash of a volume that is not there yet;
 * admission is asked when it is. An expression can't look anything up: its parameters are all volumes of the
 * cluster, it is evaluated with each, and all must agree. So it says of each volume that it is not the attached
 * one or belongs to a claim of the namespace.
 */
function policyObjects(namespace: string, account: Grantee): object[] {
  const apiVersion = `${admission}/v1`;
  const metadata = { name: policyName(namespace) };
  const message = `${account.name} may end attachments of volumes of ${namespace} only`;
  const isOfOurs = `has(params.spec.claimRef) && params.spec.claimRef.namespace == '${namespace}'`;
  const user = `system:serviceaccount:${account.namespace}:${account.name}`;
  return [
    {
      ...{ apiVersion, kind: 'ValidatingAdmissionPolicy', metadata },
      spec: {
        failurePolicy: 'Fail',
        paramKind: { apiVersion: 'v1', kind: 'PersistentVolume' },
        matchConstraints: {
          resourceRules: [
            {
              ...{ apiGroups: [storage.group], apiVersions: ['*'] },
              ...{ operations: ['DELETE'], resources: ['volumeattachments'] },
            },
          ],
        },
        matchConditions: [
          { name: 'by-the-probe', expression: `request.userInfo.username == '${user}'` },
        ],
        validations: [
          { expression: `has(${attachedVolume})`, message },
          { expression: `params.metadata.name != ${attachedVolume} || (${isOfOurs})`, message },
        ],
      },
    },
    {
      ...{ apiVersion, kind: 'ValidatingAdmissionPolicyBinding', metadata },
      spec: {
        ...{ policyName: metadata.name, validationActions: ['Deny'] },
        paramRef: { selector: {}, parameterNotFoundAction: 'Deny' },
      },
    },
  ];
}

/**
 * Where the namespace says that a policy limits its account. Throws UsageError `POLICY_MISSING` where that is
 * not there, and as `answered` does.
 */
export async function mustBeLimited(clients: UserClients, namespace: string): Promise<void> {
  const reading = orMissing(clients.core.readNamespace({ name: namespace }));
  const space = await answered(clients, `read the namespace ${namespace}`, reading);
  const name = space?.metadata?.annotations?.[policyAnnotation];
  if (name === undefined) return;
  const asking = orMissing(clients.admission.readValidatingAdmissionPolicyBinding({ name }));
  const found = await answered(clients, `read the policy ${name}`, asking);
  const { policyName: policy, validationActions = [] } = found?.spec ?? {};
  if (policy === name && validationActions.includes('Deny')) return;
  throw refusal(
    'POLICY_MISSING',
    `the policy ${name}, which limits the attachments that may be deleted, is missing`,
    { at: clients, look: `get validatingadmissionpolicybinding ${name}` },
  );
}
