/**
 * The engine is the registry of what exists: everything made carries these labels, and nothing
 * without them is ever touched.
 */
import { isClusterName, decodeOwner, encodeOwner, type Owner } from '../../core/index.ts';
import { isLeaseIndex } from './lease.ts';

export const label = {
  /** Name of the cluster: what all others hang on. */
  cluster: 'forcedetach.cluster',
  run: 'forcedetach.run',
  /** Hash of the configuration (kind-config.ts). */
  config: 'forcedetach.config',
  /** Index of the lease. */
  index: 'forcedetach.index',
  owner: 'forcedetach.owner',
  /** `true`: stays when its owner ends. */
  keep: 'forcedetach.keep',
  /** Directory on the host with kubeconfig and sockets. */
  state: 'forcedetach.state',
  /** What is written in that directory, too: both together tell that it is the cluster's. */
  token: 'forcedetach.token',
  /** Image of the lab, needed again to release loop devices. */
  tools: 'forcedetach.tools',
  /** Loop devices of a lab without a cluster, as FIRST+COUNT (labs.ts). */
  loops: 'forcedetach.loops',
} as const;

/** kind's own label on its nodes. */
export const kindClusterLabel = 'io.x-k8s.kind.cluster';

/** Name of kind cluster, network and volume. */
export const engineName = (cluster: string): string => `fd-${cluster}`;
export const labName = (cluster: string): string => `${engineName(cluster)}-lab`;
export const arrayName = (cluster: string): string => `${engineName(cluster)}-array`;
export const nodeNames = (cluster: string, count: number): string[] =>
  ['control-plane', 'worker', ...Array.from({ length: count }, (_, n) => `worker${n + 2}`)]
    .slice(0, count)
    .map((node) => `${engineName(cluster)}-${node}`);
const isNodeName = (cluster: string, name: string): boolean =>
  name.startsWith(`${engineName(cluster)}-`) &&
  /^(control-plane|worker\d*)$/.test(name.slice(engineName(cluster).length + 1));
/** Name of a container that may carry the cluster's labels. */
export const isContainerName = (cluster: string, name: string): boolean =>
  [labName(cluster), arrayName(cluster)].includes(name) || isNodeName(cluster, name);

export interface ClusterLabels {
  readonly cluster: string;
  readonly runId: string;
  readonly configHash: string;
  readonly index: number;
  /** Undefined where the label can't be read: such an owner is never called dead. */
  readonly owner: Owner | undefined;
  readonly keep: boolean;
  readonly stateDir: string;
  /** The state directory's; empty where the label is missing: such a directory is left alone. */
  readonly token: string;
  readonly tools: string;
}

export function encodeLabels(labels: ClusterLabels): string[] {
  const pairs: Record<string, string> = {
    [label.cluster]: labels.cluster,
    [label.run]: labels.runId,
    [label.config]: labels.configHash,
    [label.index]: String(labels.index),
    [label.owner]: labels.owner === undefined ? '' : encodeOwner(labels.owner),
    [label.keep]: String(labels.keep),
    [label.state]: labels.stateDir,
    [label.token]: labels.token,
    [label.tools]: labels.tools,
  };
  return Object.entries(pairs).flatMap(([key, value]) => ['--label', `${key}=${value}`]);
}

/** What is printed of a label and was made elsewhere. */
const isRunId = (text: string): boolean => /^[\w.-]{0,64}$/.test(text);

/** Undefined where the labels are not ours, or are none that we make. */
export function decodeLabels(
  labels: Readonly<Record<string, string>> | null | undefined,
): ClusterLabels | undefined {
  const cluster = labels?.[label.cluster];
  const index = Number(labels?.[label.index] ?? Number.NaN);
  const runId = labels?.[label.run] ?? '';
  if (labels == null || cluster === undefined || !isClusterName(cluster)) return undefined;
  if (!isRunId(runId) || !isLeaseIndex(index)) return undefined;
  return {
    cluster,
    runId,
    configHash: labels[label.config] ?? '',
    index,
    owner: decodeOwner(labels[label.owner] ?? ''),
    keep: labels[label.keep] === 'true',
    stateDir: labels[label.state] ?? '',
    token: labels[label.token] ?? '',
    tools: labels[label.tools] ?? '',
  };
}
