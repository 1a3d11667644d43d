/**
 * The engine is the registry of what exists: everything made carries these labels, and nothing
 * without them is ever touched.
 */
import { decodeOwner, encodeOwner, type Owner } from './owner.ts';

export const label = {
  /** Name of the cluster: what all others hang on. */
  cluster: 'forcedetach.cluster',
  run: 'forcedetach.run',
  /** Hash of the configuration (cluster-config.ts). */
  config: 'forcedetach.config',
  /** Index of the lease. */
  index: 'forcedetach.index',
  owner: 'forcedetach.owner',
  /** `true`: stays when its owner ends. */
  keep: 'forcedetach.keep',
  /** Directory on the host with kubeconfig and sockets. */
  state: 'forcedetach.state',
  /** Image of the lab, needed again to release loop devices. */
  tools: 'forcedetach.tools',
} as const;

/** kind's own label on its nodes. */
export const kindClusterLabel = 'io.x-k8s.kind.cluster';

/** What may name a cluster: a hostname with what is added to it stays within 63 characters. */
export const isClusterName = (name: string): boolean =>
  /^[a-z0-9]([a-z0-9.-]{0,28}[a-z0-9])?$/.test(name);
export const clusterNameRule =
  'lower-case letters and digits, dots and dashes within, at most 30 characters';

/** Name of kind cluster, network and volume. */
export const engineName = (cluster: string): string => `fd-${cluster}`;
export const labName = (cluster: string): string => `${engineName(cluster)}-lab`;
export const arrayName = (cluster: string): string => `${engineName(cluster)}-array`;

export interface ClusterLabels {
  readonly cluster: string;
  readonly runId: string;
  readonly configHash: string;
  readonly index: number;
  /** Undefined where the label can't be read: such an owner is never called dead. */
  readonly owner: Owner | undefined;
  readonly keep: boolean;
  readonly stateDir: string;
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
    [label.tools]: labels.tools,
  };
  return Object.entries(pairs).flatMap(([key, value]) => ['--label', `${key}=${value}`]);
}

/** Undefined where the labels are not ours. */
export function decodeLabels(
  labels: Readonly<Record<string, string>> | null | undefined,
): ClusterLabels | undefined {
  const cluster = labels?.[label.cluster];
  const index = labels?.[label.index];
  if (labels == null || cluster === undefined || index === undefined) return undefined;
  return {
    cluster,
    runId: labels[label.run] ?? '',
    configHash: labels[label.config] ?? '',
    index: Number(index),
    owner: decodeOwner(labels[label.owner] ?? ''),
    keep: labels[label.keep] === 'true',
    stateDir: labels[label.state] ?? '',
    tools: labels[label.tools] ?? '',
  };
}
