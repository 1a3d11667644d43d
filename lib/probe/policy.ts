/**
 * Limits which attachments an account may end to those of one namespace's volumes. RBAC limits by name only,
 * and an attachment's is a hash of a volume that is not there yet; admission is asked when it is.
 */
import { orMissing } from '../kube.ts';
import { UsageError } from '../errors.ts';
import { answered, kubectl, type Need } from '../user-cluster.ts';
import type { ProbeClients } from './clients.ts';

/** Annotation of a namespace: the policy that has to be there before an attachment is ended. */
export const policyAnnotation = 'forcedetach.probe/policy';

/** Name of the cluster's policy for one namespace. */
export const policyName = (namespace: string): string => `forcedetach-probe-${namespace}`;

const group = 'admissionregistration.k8s.io';
const binding = 'validatingadmissionpolicybindings';

/** To see that it is there. */
export const policyNeeds = (namespace: string): Need[] => [
  { verb: 'get', group, resource: binding, name: policyName(namespace) },
];

export interface LimitedAccount {
  readonly name: string;
  readonly namespace: string;
}

const attachedVolume = 'oldObject.spec.source.persistentVolumeName';

/**
 * A ValidatingAdmissionPolicy and its binding, for this account alone. An expression can't look anything up:
 * its parameters are all volumes of the cluster, it is evaluated with each, and all must agree. So it
 * says of each volume that it is not the attached one or belongs to a claim of the namespace.
 */
export function policyObjects(namespace: string, account: LimitedAccount): object[] {
  const apiVersion = `${group}/v1`;
  const metadata = { name: policyName(namespace) };
  const message = `${account.name} may end attachments of volumes of ${namespace} only`;
  const isOfOurs = `has(params.spec.claimRef) && params.spec.claimRef.namespace == '${namespace}'`;
  return [
    {
      ...{ apiVersion, kind: 'ValidatingAdmissionPolicy', metadata },
      spec: {
        failurePolicy: 'Fail',
        paramKind: { apiVersion: 'v1', kind: 'PersistentVolume' },
        matchConstraints: {
          resourceRules: [
            {
              ...{ apiGroups: ['storage.k8s.io'], apiVersions: ['*'] },
              ...{ operations: ['DELETE'], resources: ['volumeattachments'] },
            },
          ],
        },
        matchConditions: [
          {
            name: 'by-the-probe',
            expression: `request.userInfo.username == 'system:serviceaccount:${account.namespace}:${account.name}'`,
          },
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
export async function mustBeLimited(clients: ProbeClients, namespace: string): Promise<void> {
  const { core, admission } = clients;
  const reading = orMissing(core.readNamespace({ name: namespace }));
  const space = await answered(clients, `read the namespace ${namespace}`, reading);
  const name = space?.metadata?.annotations?.[policyAnnotation];
  if (name === undefined) return;
  const asking = orMissing(admission.readValidatingAdmissionPolicyBinding({ name }));
  const found = await answered(clients, `read the policy ${name}`, asking);
  const { policyName: policy, validationActions = [] } = found?.spec ?? {};
  if (policy === name && validationActions.includes('Deny')) return;
  throw new UsageError(
    'POLICY_MISSING',
    `the policy ${name}, which limits the attachments that may be deleted, is missing`,
    {
      hint: 'apply all that --rbac printed; before Kubernetes 1.30, use --grant instead',
      command: kubectl(clients, `get validatingadmissionpolicybinding ${name}`),
    },
  );
}
