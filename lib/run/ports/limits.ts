/** What a cluster has and may have, before one is opened: its timers, and the limits of our own on kind. */
import { capabilitiesBut, type Capability } from '../../core/index.ts';
import type { Timers } from '../../history/index.ts';

/** The timers that a whole cluster shares; tolerations and termination grace are the pod's own. */
export type ClusterTimers = Omit<Timers, 'tolerationMs' | 'terminationGraceMs'>;

/**
 * Kubernetes 1.34: pkg/kubelet/apis/config/v1beta1/defaults.go, pkg/controller/nodelifecycle/config
 * (50 s since 1.32), pkg/controller/volume/attachdetach DefaultTimerConfig.
 */
export const stockClusterTimers: ClusterTimers = {
  nodeMonitorGraceMs: 50_000,
  nodeMonitorPeriodMs: 5_000,
  kubeletLeaseMs: 40_000,
  kubeletStatusMs: 10_000,
  forceDetachAfterMs: 360_000,
};

/**
 * With the stock grace nothing is changed. Else the others keep their proportion to it: a lease
 * of 0.8 × grace, a status update of a fifth, and a monitor that looks at least as often.
 */
export function clusterTimers(options: {
  readonly grace: number;
  readonly forceDetachAfter: number;
}): ClusterTimers {
  const { grace: graceMs, forceDetachAfter: forceDetachAfterMs } = options;
  const stock = { ...stockClusterTimers, forceDetachAfterMs };
  if (graceMs === stock.nodeMonitorGraceMs) return stock;
  // No period is 0.
  const fifthMs = Math.max(1, graceMs / 5);
  return {
    nodeMonitorGraceMs: graceMs,
    nodeMonitorPeriodMs: Math.min(stock.nodeMonitorPeriodMs, fifthMs),
    // kubelet takes whole seconds.
    kubeletLeaseMs: Math.max(1_000, Math.floor((0.8 * graceMs) / 1_000) * 1_000),
    kubeletStatusMs: fifthMs,
    forceDetachAfterMs,
  };
}

/** A pod's field has whole seconds; a part of one must not become none. */
export const tolerationSecondsOf = (tolerationMs: number): number =>
  Math.ceil(tolerationMs / 1_000);

/** What a pod adds to its cluster's timers, as it has them. */
export const withPodTimers = (
  timers: ClusterTimers,
  { tolerationMs, terminationGraceMs }: Omit<Timers, keyof ClusterTimers>,
): Timers => ({
  ...timers,
  tolerationMs: 1_000 * tolerationSecondsOf(tolerationMs),
  terminationGraceMs,
});

/** Go's duration: `10s`, `1.5s`. */
export const goDuration = (ms: number): string => `${ms / 1_000}s`;

/** Worker nodes of a cluster, where the user does not say how many. */
export const kindWorkers = 2;

/** A cluster has at most so many; its last loop devices are theirs, one each: what audits mount. */
export const mostPools = 8;

/**
 * The forced-detach wait is compiled in: only the controller manager built here can change it. Clients and
 * audits are programs of their own, in images: what a caller has in his script is not there.
 */
export const kindCapabilities = (made: 'built' | 'published'): readonly Capability[] =>
  capabilitiesBut([
    'own-database',
    'standby-manager',
    'node-clock',
    ...(made === 'built' ? [] : lackingInPublished),
  ]);

/** kind's node image has no D-Bus, by which a kubelet learns of a shutdown. */
const lackingInPublished = ['force-detach-wait', 'node-shutdown'] as const;
