/**
 * What Kubernetes does once many nodes of a zone are lost: it taints fewer of them, or none. Source:
 * pkg/controller/nodelifecycle/node_lifecycle_controller.go of 1.34 (ComputeZoneState,
 * handleDisruption, ReducedQPSFunc); defaults of cmd/kube-controller-manager/app/options.
 */

export interface ZoneLimits {
  /** --node-eviction-rate: nodes tainted NoExecute per second and zone, in a burst of one. */
  readonly evictionRate: number;
  /** --secondary-node-eviction-rate: the same in an unhealthy zone of a large cluster. */
  readonly secondaryEvictionRate: number;
  /** --large-cluster-size-threshold: up to so many nodes the rate of an unhealthy zone is 0. */
  readonly largeClusterNodes: number;
  /** --unhealthy-zone-threshold: a zone with this share of lost nodes, at least 3, is unhealthy. */
  readonly unhealthyShare: number;
}

/** Kubernetes' defaults. Every cluster made here is told them by flag, so that a run can name them. */
export const zoneLimits: ZoneLimits = {
  evictionRate: 0.1,
  secondaryEvictionRate: 0.01,
  largeClusterNodes: 50,
  unhealthyShare: 0.55,
};

/** Fewer lost nodes than this never make a zone unhealthy (ComputeZoneState: more than two). */
const leastLost = 3;

export type ZoneState = 'normal' | 'partly lost' | 'all lost';

/** State of one zone; nodes without a zone label, the control plane's among them, are one zone. */
export function zoneState(ready: number, lost: number, limits: ZoneLimits = zoneLimits): ZoneState {
  if (ready === 0 && lost > 0) return 'all lost';
  const share = lost / (lost + ready);
  return lost >= leastLost && share >= limits.unhealthyShare ? 'partly lost' : 'normal';
}

/** Nodes tainted per second in a cluster of one zone. Where all are lost, all taints go, too. */
export function taintRate(ready: number, lost: number, limits: ZoneLimits = zoneLimits): number {
  const state = zoneState(ready, lost, limits);
  if (state === 'normal') return limits.evictionRate;
  const isLarge = ready + lost > limits.largeClusterNodes;
  return state === 'partly lost' && isLarge ? limits.secondaryEvictionRate : 0;
}

/** For a run's versions. */
export const zoneLimitsText: string =
  `${zoneLimits.evictionRate} nodes/s a zone; from 3 and ${Math.round(zoneLimits.unhealthyShare * 100)} % lost: ` +
  `0 up to ${zoneLimits.largeClusterNodes} nodes, else ${zoneLimits.secondaryEvictionRate}/s`;
