/** When a probe says no, and why: judged on what was read, before anything is made. */
import { UsageError } from '../errors.ts';
import { askingFor, forbidden, kubectl, needText, type Need } from '../user-cluster.ts';
import type { Facts, NodeFacts } from './facts.ts';
import { documentedMode } from './documented.ts';
import type { TrialPlan } from './trial-plan.ts';
import { isAllowed, topologyOf } from './topology.ts';
import { judgingNeeds } from './rights.ts';

export interface Asked {
  readonly storageClass: string;
  /** Undefined: the probe chooses. */
  readonly nodes: readonly [string, string] | undefined;
}

/**
 * Throws UsageError `NO_SUCH_CLASS`, InfrastructureError `CLUSTER_FORBIDDEN`. For a prediction nothing
 * else is asked.
 */
export function mustHaveClass(facts: Facts, { storageClass }: Asked): void {
  if (facts.storageClass !== undefined) return;
  const isRefused = (asked: string): boolean => facts.refused.some(({ what }) => what === asked);
  if (isRefused(`get storageclass ${storageClass}`)) {
    const asking = 'auth can-i get storageclasses.storage.k8s.io';
    throw forbidden(facts.cluster, `you may not read the class ${storageClass}`, asking);
  }
  throw new UsageError('NO_SUCH_CLASS', `there is no StorageClass ${storageClass}`, {
    hint: isRefused('list storageclasses')
      ? 'choose another one with -s; you may not list the classes'
      : `choose one with -s: ${facts.classes.join(', ') || 'but the cluster has none'}`,
    command: kubectl(facts.cluster, 'get storageclass'),
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
  const { csiDriver, cluster } = facts;
  if (csiDriver?.spec.attachRequired !== false) return;
  throw new UsageError('NO_ATTACHMENTS', 'volumes of this driver are never attached', {
    hint: 'Kubernetes has nothing to detach, so a forced detach cuts no node off: a lost node writes as long as it reaches the storage',
    command: kubectl(cluster, `get csidriver ${csiDriver.metadata?.name ?? ''} -o yaml`),
  });
}

/**
 * The writer's node and the next one's: neighbours by name, of which the first is the next pod's. If the
 * attach/detach controller saw the nodes in the order of names, its map of up to eight nodes has the first of
 * two neighbours first in 7 of 8 draws (docs/internals/model.md). Throws UsageError for what must not or
 * cannot be tried, InfrastructureError `CLUSTER_FORBIDDEN` where that can't be known.
 */
export function chooseNodes(facts: Facts, asked: Asked): readonly [string, string] {
  mustBeTryable(facts);
  mustHaveRead(facts, judgingNeeds.nodes);
  mustHaveRead(facts, judgingNeeds.registered);
  if (asked.nodes !== undefined) return givenNodes(asked.nodes, facts);
  const fit = facts.nodes.filter((node) => whyUnfit(node, facts) === undefined);
  const groups = [...Map.groupBy(fit, topologyOf).values()].toSorted((a, b) => b.length - a.length);
  const names = (groups[0] ?? []).map(({ name }) => name).toSorted();
  const [next, writer] = names;
  if (next !== undefined && writer !== undefined) return [writer, next];
  if (groups.length > 1) throw apart(facts, fit);
  const why = facts.nodes
    .map((node) => `${node.name}: ${whyUnfit(node, facts) ?? 'would do'}`)
    .join('; ');
  throw new UsageError(
    'TOO_FEW_NODES',
    'trials need two nodes that are Ready and have the driver',
    {
      hint: why === '' ? 'the cluster has no nodes' : why,
      command: kubectl(facts.cluster, 'get nodes,csinodes'),
    },
  );
}

function givenNodes([a, b]: readonly [string, string], facts: Facts): readonly [string, string] {
  for (const name of [a, b]) mustServe(name, facts);
  if (a === b) {
    throw new UsageError('SAME_NODE', `--nodes names ${a} twice`, {
      hint: 'give two different nodes',
    });
  }
  const both = facts.nodes.filter(({ name }) => name === a || name === b);
  if (new Set(both.map(topologyOf)).size > 1) throw apart(facts, both);
  return [a, b];
}

/** The volumes of one zone can't go to another. */
function apart({ cluster, driver, nodes: all }: Facts, nodes: readonly NodeFacts[]): UsageError {
  const keys = [...new Set(all.flatMap(({ topologyKeys }) => topologyKeys))];
  const where = nodes.map((node) => `${node.name} (${topologyOf(node)})`).join(', ');
  return new UsageError(
    'NODES_APART',
    `no two of these nodes can have the same volume of ${driver}: ${where}`,
    {
      hint: 'trials need two Ready nodes of one topology: add a node to one of these, or name two of the same with --nodes',
      command: kubectl(cluster, `get nodes -L ${keys.join(',')}`),
    },
  );
}

function mustBeTryable(facts: Facts): void {
  const { storageClass, csiDriver, cluster, driver } = facts;
  const provisioner = storageClass?.provisioner ?? '';
  mustNotBeLocal(facts);
  mustHaveRead(facts, judgingNeeds.driver);
  if (provisioner !== driver) {
    throw new UsageError(
      'NO_CSI_DRIVER',
      `${provisioner} is an in-tree name, served by ${driver}`,
      {
        hint: `make a class that is the same but for \`provisioner: ${driver}\`, and probe that one`,
        command: kubectl(cluster, `get storageclass ${storageClass?.metadata?.name} -o yaml`),
      },
    );
  }
  if (csiDriver === undefined) {
    throw new UsageError('NO_CSI_DRIVER', `no CSIDriver is called ${driver}`, {
      hint: 'install the driver of this class, or choose a class of a CSI driver with -s',
      command: kubectl(cluster, 'get csidrivers'),
    });
  }
  if (storageClass?.reclaimPolicy === 'Retain') {
    throw new UsageError(
      'VOLUMES_STAY',
      'the class retains its volumes, so those of the trials would stay',
      {
        hint: 'make a class that is the same but for `reclaimPolicy: Delete`, and probe that one',
      },
    );
  }
}

function mustNotBeLocal(facts: Facts): void {
  if (documentedMode(facts).mode !== 'local') return;
  throw new UsageError(
    'LOCAL_VOLUMES',
    `${facts.storageClass?.provisioner} makes volumes of one node`,
    {
      hint: 'no other node can reach them, so there is no detach to try: wait for the node, or give the claim up',
    },
  );
}

function mustServe(name: string, facts: Facts): void {
  const node = facts.nodes.find((each) => each.name === name);
  const why = node === undefined ? 'there is no such node' : whyUnfit(node, facts);
  if (why === undefined) return;
  throw new UsageError('NODE_UNFIT', `${name} can't be used: ${why}`, {
    hint: 'name two other nodes with --nodes, or leave the choice to the probe',
    command: kubectl(facts.cluster, 'get nodes,csinodes'),
  });
}

function whyUnfit(node: NodeFacts, { storageClass }: Facts): string | undefined {
  if (!node.ready) return 'it is not Ready';
  if (node.outOfService) return 'it is marked out of service';
  if (!node.schedulable) return 'it is cordoned or tainted';
  if (!node.hasDriver) return 'the driver is not registered there';
  if (!isAllowed(node, storageClass ?? {})) return 'allowedTopologies of the class leave it out';
  return undefined;
}

/** Throws UsageError `TOO_MANY_VOLUMES`. */
export function mustFit({ nodes }: Facts, plan: TrialPlan): void {
  const limits = plan.nodes.map((name) => nodes.find((node) => node.name === name)?.attachable);
  const least = Math.min(...limits.map((limit) => limit ?? Infinity));
  if (plan.list.length <= least) return;
  throw new UsageError(
    'TOO_MANY_VOLUMES',
    `${plan.list.length} volumes, and a node takes ${least}`,
    {
      hint: 'other pods use some of these already; reduce --trials',
    },
  );
}
