/** When a probe says no, and why: judged on what was read, before anything is made, and again before a cut. */
import type {
  V1LabelSelector,
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodDisruptionBudget,
  V1StorageClass,
} from '@kubernetes/client-node';
import {
  orMissing,
  type Need,
  type UserClients,
  answered,
  askingFor,
  forbidden,
  mustBeAllowed,
  needText,
} from '../core/index.ts';
import { probeLabel } from './objects.ts';
import { documentedMode } from './predict.ts';
import { guardNeeds, judgingNeeds, longhornNeeds } from './rights.ts';
import { topologyOf, type Facts, type NodeFacts } from './facts.ts';
import type { TrialPlan } from './plan.ts';
import { refusal } from './refusals.ts';

export interface Asked {
  readonly storageClass: string;
  /** Undefined: the probe chooses. */
  readonly nodes: readonly [string, string] | undefined;
}

/**
 * Throws UsageError `NO_SUCH_CLASS`, InfrastructureError `CLUSTER_FORBIDDEN`. For a prediction nothing
 * else is asked.
 */
export function mustHaveClass(facts: Facts, { storageClass }: Pick<Asked, 'storageClass'>): void {
  if (facts.storageClass !== undefined) return;
  const isRefused = (asked: string): boolean => facts.refused.some(({ what }) => what === asked);
  if (isRefused(`get storageclass ${storageClass}`)) {
    const asking = 'auth can-i get storageclasses.storage.k8s.io';
    throw forbidden(facts.cluster, `you may not read the class ${storageClass}`, asking);
  }
  throw refusal('NO_SUCH_CLASS', `there is no StorageClass ${storageClass}`, {
    at: facts.cluster,
    hint: isRefused('list storageclasses')
      ? 'choose another one with -s; you may not list the classes'
      : `choose one with -s: ${facts.classes.join(', ') || 'but the cluster has none'}`,
  });
}

/**
 * What was not allowed to be read says nothing: neither that something is there nor that it is not. Throws
 * InfrastructureError `CLUSTER_FORBIDDEN`.
 */
function mustHaveRead({ refused, cluster }: Facts, need: Need): void {
  const singular = need.verb === 'get' ? need.resource.replace(/s$/, '') : need.resource;
  const words = `${need.verb} ${singular}`;
  if (!refused.some(({ what }) => what === words || what.startsWith(`${words} `))) return;
  throw forbidden(cluster, `you may not ${needText(need)}`, askingFor(need));
}

/** Throws UsageError `LOCAL_VOLUMES`, `NO_ATTACHMENTS`: what trials do to a volume is to delete its attachment. */
export function mustHaveAttachments(facts: Facts): void {
  mustNotBeLocal(facts);
  const { csiDriver, cluster: at } = facts;
  if (csiDriver?.spec.attachRequired !== false) return;
  const look = `get csidriver ${csiDriver.metadata?.name ?? ''} -o yaml`;
  throw refusal('NO_ATTACHMENTS', 'volumes of this driver are never attached', { at, look });
}

/**
 * The writer's node and the next one's: neighbours by name, of which the first is the next pod's. If the
 * attach/detach controller saw the nodes in the order of names, its map of up to eight nodes has the first of
 * two neighbours first in 7 of 8 draws (docs/internals/model.md). Throws UsageError for what must not or
 * cannot be tried, InfrastructureError `CLUSTER_FORBIDDEN` where that can't be known.
 */
export function chooseNodes(facts: Facts, asked: Pick<Asked, 'nodes'>): readonly [string, string] {
  mustBeTryable(facts);
  mustHaveRead(facts, judgingNeeds.nodes);
  mustHaveRead(facts, judgingNeeds.registered);
  if (asked.nodes !== undefined) return givenNodes(asked.nodes, facts);
  const fit = facts.nodes.filter((node) => whyUnfit(node, facts) === undefined);
  const groups = [...Map.groupBy(fit, topologyOf).values()].toSorted((a, b) => b.length - a.length);
  const [next, writer] = (groups[0] ?? []).map(({ name }) => name).toSorted();
  if (next !== undefined && writer !== undefined) return [writer, next];
  if (groups.length > 1) throw apart(facts, fit);
  const why = facts.nodes
    .map((node) => `${node.name}: ${whyUnfit(node, facts) ?? 'would do'}`)
    .join('; ');
  throw refusal('TOO_FEW_NODES', 'trials need two nodes that are Ready and have the driver', {
    at: facts.cluster,
    hint: why === '' ? 'the cluster has no nodes' : why,
  });
}

function givenNodes([a, b]: readonly [string, string], facts: Facts): readonly [string, string] {
  for (const name of [a, b]) {
    const node = facts.nodes.find((each) => each.name === name);
    const why = node === undefined ? 'there is no such node' : whyUnfit(node, facts);
    if (why === undefined) continue;
    throw refusal('NODE_UNFIT', `${name} can't be used: ${why}`, { at: facts.cluster });
  }
  if (a === b) throw refusal('SAME_NODE', `--nodes names ${a} twice`);
  const both = facts.nodes.filter(({ name }) => name === a || name === b);
  if (new Set(both.map(topologyOf)).size > 1) throw apart(facts, both);
  return [a, b];
}

function apart({ cluster: at, driver, nodes: all }: Facts, nodes: readonly NodeFacts[]): Error {
  const keys = [...new Set(all.flatMap(({ topologyKeys }) => topologyKeys))];
  const where = nodes.map((node) => `${node.name} (${topologyOf(node)})`).join(', ');
  return refusal(
    'NODES_APART',
    `no two of these nodes can have the same volume of ${driver}: ${where}`,
    { at, look: `get nodes -L ${keys.join(',')}` },
  );
}

function mustBeTryable(facts: Facts): void {
  const { storageClass, csiDriver, cluster: at, driver } = facts;
  const provisioner = storageClass?.provisioner ?? '';
  mustNotBeLocal(facts);
  mustHaveRead(facts, judgingNeeds.driver);
  if (provisioner !== driver) {
    throw refusal('NO_CSI_DRIVER', `${provisioner} is an in-tree name, served by ${driver}`, {
      hint: `make a class that is the same but for \`provisioner: ${driver}\`, and probe that one`,
      ...{ at, look: `get storageclass ${storageClass?.metadata?.name} -o yaml` },
    });
  }
  if (csiDriver === undefined) {
    throw refusal('NO_CSI_DRIVER', `no CSIDriver is called ${driver}`, { at });
  }
  if (storageClass?.reclaimPolicy !== 'Retain') return;
  throw refusal('VOLUMES_STAY', 'the class retains its volumes, so those of the trials would stay');
}

function mustNotBeLocal(facts: Facts): void {
  if (documentedMode(facts).mode !== 'local') return;
  throw refusal('LOCAL_VOLUMES', `${facts.storageClass?.provisioner} makes volumes of one node`);
}

function whyUnfit(node: NodeFacts, { storageClass }: Facts): string | undefined {
  if (!node.ready) return 'it is not Ready';
  if (node.outOfService) return 'it is marked out of service';
  if (!node.schedulable) return 'it is cordoned or tainted';
  if (!node.hasDriver) return 'the driver is not registered there';
  if (!isAllowed(node, storageClass)) return 'allowedTopologies of the class leave it out';
  return undefined;
}

/** Throws UsageError `TOO_MANY_VOLUMES`. */
export function mustFit({ nodes }: Facts, plan: TrialPlan): void {
  const limits = plan.nodes.map((name) => nodes.find((node) => node.name === name)?.attachable);
  const least = Math.min(...limits.map((limit) => limit ?? Infinity));
  if (plan.list.length <= least) return;
  throw refusal('TOO_MANY_VOLUMES', `${plan.list.length} volumes, and a node takes ${least}`);
}

/** Whether the class makes volumes there: one term of `allowedTopologies` has to fit. */
const isAllowed = ({ labels }: NodeFacts, asked: V1StorageClass | undefined): boolean =>
  asked?.allowedTopologies === undefined ||
  asked.allowedTopologies.length === 0 ||
  asked.allowedTopologies.some(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ key, values }) => values.includes(labels[key] ?? '')),
  );

/**
 * `labels` of the next pod's node. Throws InfrastructureError `VOLUME_APART` where the volume can't be
 * reached from there: its pod would wait for ever, and nothing could be concluded from that.
 */
export function mustReach(
  volume: V1PersistentVolume | undefined,
  node: string,
  labels: Readonly<Record<string, string>>,
): void {
  const terms = volume?.spec?.nodeAffinity?.required?.nodeSelectorTerms;
  if (terms === undefined || terms.some((term) => isSelected(labels, term))) return;
  const where = terms
    .flatMap(({ matchExpressions = [] }) => matchExpressions)
    .map(({ key, values = [] }) => `${key}=${values.join('|')}`)
    .join(', ');
  const name = volume?.metadata?.name;
  throw refusal(
    'VOLUME_APART',
    `${node} can't reach the volume ${name}, which is bound to ${where}`,
  );
}

/** Selects as Kubernetes does; an empty selector selects all. */
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
  clients: UserClients,
  facts: Facts,
  [name]: readonly [string, string],
  own?: string,
): Promise<void> {
  const at = clients;
  if (facts.nodes.find((each) => each.name === name)?.controlPlane === true) {
    throw refusal('CUT_CONTROL_PLANE', `${name} runs a part of the control plane`, { at });
  }
  if (!facts.nodes.some((each) => each.ready && each.schedulable && each.name !== name)) {
    throw refusal('CUT_LAST_NODE', `${name} is the last node that takes pods`, { at });
  }
  await mustBeAllowed(clients, guardNeeds);
  const listing = clients.core.listPodForAllNamespaces();
  const { items } = await answered(clients, 'listed the pods', listing);
  const pods = items.filter((pod) => isAlive(pod) && !isOwn(pod, own));
  const here = pods.filter(({ spec }) => spec?.nodeName === name);
  await mustBeNoRemediator(clients, pods);
  const tight = await tightBudget(clients, here);
  if (tight !== undefined) {
    throw refusal(
      'CUT_BUDGET',
      `the PodDisruptionBudget ${nameOf(tight)} allows no disruption, and has pods on ${name}`,
      { at, look: `get pdb ${shown(tight)}` },
    );
  }
  const exclusive = await claimsOnlyThere(clients, here);
  if (exclusive.length === 0) return;
  throw refusal(
    'CUT_FOREIGN_VOLUMES',
    `pods on ${name} use volumes of one node: ${exclusive.join(', ')}`,
    { at, look: `get pods -A --field-selector spec.nodeName=${name}` },
  );
}

async function mustBeNoRemediator(clients: UserClients, pods: readonly V1Pod[]): Promise<void> {
  const remediator = pods.find(isOf(remediators));
  if (remediator !== undefined) {
    throw refusal('CUT_REMEDIATOR', `${nameOf(remediator)} acts on lost nodes by itself`, {
      ...{ at: clients, look: `get pod ${shown(remediator)}` },
    });
  }
  if (!pods.some(isOf(/\blonghorn-manager\b/))) return;
  // What it would do with pods of a lost node: nothing, as it is by default.
  await mustBeAllowed(clients, longhornNeeds);
  const [{ group = '', namespace = '', resource: plural, name = '' }] = longhornNeeds;
  const place = { group, version: 'v1beta2', namespace, plural, name };
  const reading = clients.custom.getNamespacedCustomObject(place);
  const { value = 'not to be read' } = (await reading.catch(() => ({}))) as { value?: string };
  if (value === 'do-nothing') return;
  throw refusal('CUT_REMEDIATOR', `Longhorn’s ${name} is ${value}`, {
    hint: 'it would delete pods of the node during the cut: set it to do-nothing meanwhile',
    ...{ at: clients, look: `get settings.longhorn.io -A` },
  });
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
  ({ metadata, spec }: V1Pod): boolean =>
    [metadata?.name, ...(spec?.containers ?? []).map(({ image }) => image)].some((word = '') =>
      program.test(word),
    );

/** One that allows no disruption, and has one of these pods. */
async function tightBudget(
  clients: UserClients,
  pods: readonly V1Pod[],
): Promise<V1PodDisruptionBudget | undefined> {
  const listing = clients.policy.listPodDisruptionBudgetForAllNamespaces();
  const { items } = await answered(clients, 'listed the budgets', listing);
  return items.find(
    ({ metadata: { namespace } = {}, spec, status }) =>
      status?.disruptionsAllowed === 0 &&
      (status.expectedPods ?? 0) > 0 &&
      pods.some(
        ({ metadata }) =>
          metadata?.namespace === namespace &&
          isSelected(metadata?.labels ?? {}, spec?.selector ?? {}),
      ),
  );
}

async function claimsOnlyThere(clients: UserClients, pods: readonly V1Pod[]): Promise<string[]> {
  const using = pods.flatMap((pod) => claimsOf(pod).map((claim) => ({ pod, claim })));
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
  throw refusal('CUT_NOT_CONFIRMED', `the cut of ${node} is not confirmed`, {
    hint: `it loses all its connections for minutes; confirm with --yes ${node}, or see the plan with --dry-run`,
  });
}
