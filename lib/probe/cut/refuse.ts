/** When a node must not be cut off, and why: asked before anything is made, and again before it is cut. */
import type {
  V1LabelSelector,
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodDisruptionBudget,
} from '@kubernetes/client-node';
import { orMissing } from '../../kube.ts';
import { UsageError } from '../../errors.ts';
import { answered, kubectl, mustBeAllowed } from '../../user-cluster.ts';
import type { ProbeClients } from '../clients.ts';
import type { Facts } from '../facts.ts';
import { guardNeeds, longhornNeeds } from '../rights.ts';
import { probeLabel } from '../trials/objects.ts';

/**
 * They act on a lost node by themselves: what came would be their doing. By image or by name: of medik8s Node
 * Health Check and the remediations that it starts, of Piraeus its controller, and two that are older.
 */
const remediators =
  /node-?health-?check|(node|fence-agents|machine-deletion)-remediation|piraeus-ha-controller|\bpoison-pill\b|\bdraino\b/;

/**
 * `own`: the probe's namespace; its own pods are nobody's loss. Throws UsageError for what must not be cut; as
 * `mustBeAllowed` and `answered` do.
 */
export async function mustBeCuttable(
  clients: ProbeClients,
  facts: Facts,
  nodes: readonly [string, string],
  own?: string,
): Promise<void> {
  const [name] = nodes;
  const node = facts.nodes.find((each) => each.name === name);
  const refuse = (code: string, message: string, hint: string, command: string): never => {
    throw new UsageError(code, message, { hint, command: kubectl(clients, command) });
  };
  if (node?.controlPlane === true) {
    const hint = 'cut off a worker: without its control plane the cluster stops';
    refuse('CUT_CONTROL_PLANE', `${name} runs a part of the control plane`, hint, 'get nodes');
  }
  const spare = facts.nodes.filter((each) => each.ready && each.schedulable && each.name !== name);
  if (spare.length === 0) {
    const hint = 'its pods would have no other node; add one';
    refuse('CUT_LAST_NODE', `${name} is the last node that takes pods`, hint, 'get nodes');
  }
  await mustBeAllowed(clients, guardNeeds);
  const listing = clients.core.listPodForAllNamespaces();
  const { items } = await answered(clients, 'listed the pods', listing);
  const pods = items.filter((pod) => isAlive(pod) && !isOwn(pod, own));
  const remediator = pods.find(isOf(remediators));
  if (remediator !== undefined) {
    const hint = 'it would fence, reboot or drain the node during the cut: stop it first';
    const what = `${nameOf(remediator)} acts on lost nodes by itself`;
    refuse('CUT_REMEDIATOR', what, hint, `get pod ${shown(remediator)}`);
  }
  const longhorn = pods.some(isOf(/\blonghorn-manager\b/))
    ? await longhornPolicy(clients)
    : undefined;
  if (longhorn !== undefined) {
    const hint = 'it would delete pods of the node during the cut: set it to do-nothing meanwhile';
    const what = `Longhorn’s ${longhornSetting} is ${longhorn}`;
    refuse('CUT_REMEDIATOR', what, hint, `get settings.longhorn.io -A`);
  }
  const tight = await tightBudget(
    clients,
    pods.filter(({ spec }) => spec?.nodeName === name),
  );
  if (tight !== undefined) {
    const hint = 'the cut would take one of its pods: wait until it allows a disruption';
    const what = `the PodDisruptionBudget ${nameOf(tight)} allows no disruption, and has pods on ${name}`;
    refuse('CUT_BUDGET', what, hint, `get pdb ${shown(tight)}`);
  }
  const exclusive = await claimsOnlyThere(clients, pods, name);
  if (exclusive.length > 0) {
    const hint = 'the cut would harm their data: drain the node, or name another one';
    const what = `pods on ${name} use volumes of one node: ${exclusive.join(', ')}`;
    refuse('CUT_FOREIGN_VOLUMES', what, hint, `get pods -A --field-selector spec.nodeName=${name}`);
  }
}

const isAlive = ({ status }: V1Pod): boolean =>
  status?.phase !== 'Succeeded' && status?.phase !== 'Failed';
const isOwn = ({ metadata }: V1Pod, own: string | undefined): boolean =>
  metadata?.namespace === own && metadata?.labels?.[probeLabel] === 'yes';
type Named = Pick<V1Pod, 'metadata'>;
const nameOf = ({ metadata }: Named): string => `${metadata?.namespace}/${metadata?.name}`;
const shown = ({ metadata }: Named): string => `-n ${metadata?.namespace} ${metadata?.name}`;

const isOf =
  (program: RegExp) =>
  (pod: V1Pod): boolean =>
    [pod.metadata?.name ?? '', ...(pod.spec?.containers ?? []).map(({ image = '' }) => image)].some(
      (word) => program.test(word),
    );

const longhornSetting = 'node-down-pod-deletion-policy';

/**
 * What it would do with pods of a lost node; undefined: nothing, as it is by default. Throws as `mustBeAllowed`
 * does.
 */
async function longhornPolicy(clients: ProbeClients): Promise<string | undefined> {
  await mustBeAllowed(clients, longhornNeeds);
  const place = { group: 'longhorn.io', version: 'v1beta2', namespace: 'longhorn-system' };
  const reading = clients.custom.getNamespacedCustomObject({
    ...{ ...place, plural: 'settings', name: longhornSetting },
  });
  const setting = (await reading.catch(() => ({}))) as { readonly value?: string };
  const value = setting.value ?? 'not to be read';
  return value === 'do-nothing' ? undefined : value;
}

/** One that allows no disruption, and has one of these pods. */
async function tightBudget(
  clients: ProbeClients,
  pods: readonly V1Pod[],
): Promise<V1PodDisruptionBudget | undefined> {
  const listing = clients.policy.listPodDisruptionBudgetForAllNamespaces();
  const { items } = await answered(clients, 'listed the budgets', listing);
  return items.find((budget) => isSpent(budget) && pods.some(isUnder(budget)));
}

const isSpent = ({ status }: V1PodDisruptionBudget): boolean =>
  status?.disruptionsAllowed === 0 && (status.expectedPods ?? 0) > 0;

const isUnder =
  ({ metadata, spec }: V1PodDisruptionBudget) =>
  (pod: V1Pod): boolean =>
    pod.metadata?.namespace === metadata?.namespace &&
    isSelected(pod.metadata?.labels ?? {}, spec?.selector ?? {});

/** Selects as Kubernetes does; an empty selector of a budget selects all. */
function isSelected(
  labels: Readonly<Record<string, string>>,
  { matchLabels = {}, matchExpressions = [] }: V1LabelSelector,
): boolean {
  const isEqual = Object.entries(matchLabels).every(([key, value]) => labels[key] === value);
  return (
    isEqual &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key];
      if (operator === 'Exists') return value !== undefined;
      if (operator === 'DoesNotExist') return value === undefined;
      const isIn = value !== undefined && values.includes(value);
      return operator === 'In' ? isIn : !isIn;
    })
  );
}

async function claimsOnlyThere(
  clients: ProbeClients,
  pods: readonly V1Pod[],
  node: string,
): Promise<string[]> {
  const using = pods
    .filter(({ spec }) => spec?.nodeName === node)
    .flatMap((pod) => claimsOf(pod).map((claim) => ({ pod, claim })));
  const found = await Promise.all(
    using.map(async ({ pod, claim: name }) => {
      const namespace = pod.metadata?.namespace ?? '';
      const reading = clients.core.readNamespacedPersistentVolumeClaim({ name, namespace });
      const doing = `read the claim ${namespace}/${name}`;
      // A pod may name one that nobody ever made: then it has no volume yet.
      const claim = await answered(clients, doing, orMissing(reading));
      return claim !== undefined && isOfOneNode(claim) ? [nameOf(pod)] : [];
    }),
  );
  return [...new Set(found.flat())];
}

/** Claims of a pod. For an ephemeral volume Kubernetes makes one that is named after the pod and it. */
const claimsOf = ({ metadata, spec }: V1Pod): string[] =>
  (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim: claim, ephemeral }) => {
    if (claim !== undefined) return [claim.claimName];
    return ephemeral === undefined ? [] : [`${metadata?.name}-${name}`];
  });

const isOfOneNode = ({ spec }: V1PersistentVolumeClaim): boolean =>
  (spec?.accessModes ?? []).some((mode) => mode.startsWith('ReadWriteOnce'));

/** Whoever cuts a node off names it twice. Throws UsageError `CUT_NOT_CONFIRMED`. */
export function mustBeConfirmed(node: string, typed: string | undefined): void {
  if (typed === node) return;
  throw new UsageError('CUT_NOT_CONFIRMED', `the cut of ${node} is not confirmed`, {
    hint: `it loses all its connections for minutes; confirm with --yes ${node}, or see the plan with --dry-run`,
  });
}
