/**
 * What can be read of a class, its driver and the nodes, without making anything (T0). A right that is
 * missing takes its facts away, never the others'.
 */
import type {
  V1CSIDriver,
  V1CSINode,
  V1Node,
  V1Pod,
  V1StorageClass,
} from '@kubernetes/client-node';
import { driverServing } from '../scenario/index.ts';
import {
  type Immutable,
  isReady,
  orMissing,
  statusOf,
  outOfServiceKey,
  type UserClients,
  type UserCluster,
  answered,
} from '../core/index.ts';

export type NodeFacts = Immutable<ReturnType<typeof nodeFacts>>;
export type DriverPod = Immutable<ReturnType<typeof driverPods>[number]>;

export interface Facts {
  readonly cluster: UserCluster;
  readonly kubernetes: string;
  readonly classes: readonly string[];
  readonly storageClass: V1StorageClass | undefined;
  /** Name of the CSI driver that serves the class; an in-tree provisioner is migrated to one. */
  readonly driver: string;
  readonly csiDriver: V1CSIDriver | undefined;
  readonly nodes: readonly NodeFacts[];
  /** Pods that hold the driver's socket or name it in their arguments. */
  readonly driverPods: readonly DriverPod[];
  /** Arguments of kube-controller-manager, where it runs as a pod that may be read. */
  readonly controllerManager: readonly string[] | undefined;
  readonly refused: readonly { readonly what: string; readonly why: string }[];
}

export type AtLeastOne<T> = readonly [T, ...T[]];

/** What of a cluster was read once, and the facts of a class in it. */
export interface Reading {
  readonly clients: UserClients;
  /** The answer; undefined, and noted, where it is not allowed. Throws as `answered` does. */
  readonly read: <T>(what: string, answer: Promise<T>) => Promise<T | undefined>;
  readonly list: <T>(what: string, answer: Promise<{ items: T[] }>) => Promise<readonly T[]>;
  readonly refused: Facts['refused'];
  readonly nodes: readonly V1Node[];
  readonly pods: readonly V1Pod[];
  readonly factsOf: (name: string) => Promise<Facts>;
  /** The same of a volume that has no class, or of which the class is gone. */
  readonly factsOfDriver: (provisioner: string) => Promise<Facts>;
}

export async function readCluster(clients: UserClients): Promise<Reading> {
  const { core, storage, version } = clients;
  const refused: { what: string; why: string }[] = [];
  const read: Reading['read'] = (what, answer) => {
    const allowed = answer.catch((error: unknown) => {
      if (statusOf(error) !== 403) throw error;
      refused.push({ what, why: 'not allowed (403)' });
      return undefined;
    });
    return answered(clients, `asked to ${what}`, allowed);
  };
  const list: Reading['list'] = async (what, answer) =>
    (await read(`list ${what}`, answer.then(itemsOf))) ?? [];

  const code = await read('get /version', version.getCode());
  const classes = await list('storageclasses', storage.listStorageClass());
  const csiNodes = await list('csinodes', storage.listCSINode());
  const nodes = await list('nodes', core.listNode());
  const pods = await list('pods', core.listPodForAllNamespaces());
  const factsWith = async (storageClass: V1StorageClass | undefined): Promise<Facts> => {
    const driver = storageClass === undefined ? '' : driverServing(storageClass.provisioner);
    const reading = (): Promise<V1CSIDriver | undefined> =>
      read(`get csidriver ${driver}`, orMissing(storage.readCSIDriver({ name: driver })));
    return {
      ...{ cluster: clients, kubernetes: code?.gitVersion ?? '', refused },
      classes: classes.flatMap(({ metadata }) => metadata?.name ?? []),
      controllerManager: controllerManagerArgs(pods),
      ...driverFacts(storageClass, { csiNodes, nodes, pods }),
      csiDriver: driver === '' ? undefined : await reading(),
    };
  };
  return {
    ...{ clients, read, list, refused, nodes, pods },
    factsOf: async (name) =>
      factsWith(
        classes.find(({ metadata }) => metadata?.name === name) ??
          (await read(`get storageclass ${name}`, orMissing(storage.readStorageClass({ name })))),
      ),
    factsOfDriver: (provisioner) => factsWith({ provisioner }),
  };
}

/** Gathers facts of classes, in their order; what is the cluster's is read once. Throws as `answered` does. */
export async function gatherFacts(
  clients: UserClients,
  first: string,
  ...others: readonly string[]
): Promise<AtLeastOne<Facts>> {
  const { factsOf } = await readCluster(clients);
  const found: [Facts, ...Facts[]] = [await factsOf(first)];
  for (const name of others) found.push(await factsOf(name));
  return found;
}

interface ClusterObjects {
  readonly csiNodes: readonly V1CSINode[];
  readonly nodes: readonly V1Node[];
  readonly pods: readonly V1Pod[];
}

/** Facts of a class and its driver that the objects of a cluster show. */
export function driverFacts(
  storageClass: V1StorageClass | undefined,
  { csiNodes, nodes, pods }: ClusterObjects,
): Pick<Facts, 'storageClass' | 'driver' | 'nodes' | 'driverPods'> {
  const driver = storageClass === undefined ? '' : driverServing(storageClass.provisioner);
  return {
    ...{ storageClass, driver },
    nodes: nodes.map((node) => nodeFacts(node, csiNodes, driver)),
    driverPods: driver === '' ? [] : driverPods(pods, driver),
  };
}

/** What answers may be no API server, and say anything. */
function itemsOf<T>({ items }: { readonly items: readonly T[] }): readonly T[] {
  const isList = Array.isArray(items) && items.every((item) => item instanceof Object);
  if (!isList) throw new Error('it answers with no list');
  return items;
}

function nodeFacts(node: V1Node, csiNodes: readonly V1CSINode[], driver: string) {
  const { metadata: { name = '', labels = {} } = {}, spec, status } = node;
  const taints = spec?.taints ?? [];
  const info = status?.nodeInfo;
  const csiNode = csiNodes.find(({ metadata }) => metadata?.name === name);
  // The API answers null where none is registered.
  const here = (csiNode?.spec.drivers ?? []).find((each) => each.name === driver);
  return {
    name,
    ready: isReady(status),
    /** Neither cordoned nor tainted against ordinary pods. */
    schedulable:
      spec?.unschedulable !== true && taints.every(({ effect }) => effect === 'PreferNoSchedule'),
    /** By its roles: a part of it runs there, be it etcd alone. */
    controlPlane: Object.keys(labels).some((label) =>
      /^node-role\.kubernetes\.io\/(control-?plane|master|etcd)$/.test(label),
    ),
    outOfService: taints.some(({ key }) => key === outOfServiceKey),
    kubelet: info?.kubeletVersion ?? '',
    kernel: info?.kernelVersion ?? '',
    osImage: info?.osImage ?? '',
    runtime: info?.containerRuntimeVersion ?? '',
    hasDriver: here !== undefined,
    /** Number of its volumes that the node takes, where it says so. */
    attachable: here?.allocatable?.count,
    labels,
    /** Labels that say from where the driver's volumes can be reached. */
    topologyKeys: here?.topologyKeys ?? [],
  };
}

function driverPods(pods: readonly V1Pod[], driver: string) {
  const names = (text: string | undefined): boolean => text?.includes(driver) === true;
  const own = pods.filter(
    ({ spec }) =>
      spec?.volumes?.some(({ hostPath }) => names(hostPath?.path)) === true ||
      spec?.containers.some(
        ({ args = [], command = [], env = [] }) =>
          [...args, ...command].some(names) || env.some(({ value }) => names(value)),
      ) === true,
  );
  return own.map(({ metadata, spec }) => ({
    name: `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`,
    containers: (spec?.containers ?? []).map(
      ({ name, image = '', args = [], command = [], env = [] }) => ({
        ...{ name, image },
        /** And its environment, as `NAME=value`. */
        args: [
          ...[...command.slice(1), ...args],
          ...env.map((each) => `${each.name}=${each.value ?? ''}`),
        ],
      }),
    ),
  }));
}

const controllerManagerArgs = (pods: readonly V1Pod[]): string[] | undefined => {
  const pod = pods.find(
    ({ metadata }) => metadata?.labels?.['component'] === 'kube-controller-manager',
  );
  const [container] = pod?.spec?.containers ?? [];
  return container === undefined
    ? undefined
    : [...(container.command ?? []), ...(container.args ?? [])].slice(1);
};

/** A key whose value is the node itself. A driver that attaches volumes has it to place them, not to bound them. */
export const isOwnTopology = (
  { name, labels }: Pick<NodeFacts, 'name' | 'labels'>,
  key: string,
): boolean => labels[key] === name || labels[key] === (labels['kubernetes.io/hostname'] ?? name);

/** The same text for nodes that can have the same volumes; '' where the driver has no topology. */
export const topologyOf = (node: NodeFacts): string =>
  node.topologyKeys
    .filter((key) => !isOwnTopology(node, key))
    .toSorted()
    .map((key) => `${key}=${node.labels[key] ?? 'none'}`)
    .join(', ');
