/** Facts of Kubernetes, each with its source: versions, times, taints and limits of a zone. */
import { UsageError } from './errors.ts';

/** What may name a cluster of ours: a hostname with what is added to it stays within 63 characters. */
export const isClusterName = (name: string): boolean =>
  /^[a-z0-9]([a-z0-9.-]{0,28}[a-z0-9])?$/.test(name);
export const clusterNameRule =
  'lower-case letters and digits, dots and dashes within, at most 30 characters';

/** pkg/apis/core/well_known_labels.go, TaintNodeOutOfService. */
export const outOfServiceKey = 'node.kubernetes.io/out-of-service';
/** Of a node that is not Ready, by what its condition says (k8s.io/api/core/v1 TaintNodeUnreachable, TaintNodeNotReady). */
export const lossTaints = {
  Unknown: 'node.kubernetes.io/unreachable',
  False: 'node.kubernetes.io/not-ready',
} as const;
/** By its key, or as a history has it: `KEY:EFFECT`. */
export const isLossTaint = (taint: string): boolean =>
  Object.values<string>(lossTaints).includes(taint.split(':', 1)[0] ?? '');

/** Taint that Kubernetes' documentation has an operator set. */
export const outOfServiceTaint = {
  key: outOfServiceKey,
  value: 'nodeshutdown',
  effect: 'NoExecute',
} as const;

/** Those that the model plays. */
export const kubernetesMinors: readonly string[] = [
  ...['1.28', '1.29', '1.30', '1.31', '1.32', '1.33'],
  ...['1.34', '1.35', '1.36', '1.37'],
];
/** The newest; both on clusters and on the model. */
export const kubernetesDefault = '1.37';
/** Version of everything recorded before scenarios named theirs. */
export const kubernetesBeforeNamed = '1.34';

/** Images are pulled, or built here. */
export type ImageSource = 'published' | 'built';

/** Where images come from. */
export interface ImageOrigin {
  readonly source: ImageSource;
  /** `host` or `host:port` that holds what this checkout would build. Default: official images. */
  readonly registry?: string | undefined;
}

/** Whose programs are in them: ours, compiled from modules, or those of the official images. */
export const madeBy = ({ source, registry }: ImageOrigin): ImageSource =>
  registry === undefined ? source : 'built';

/** What a cluster of a minor is made of. */
interface KubernetesRelease {
  /** The newest patch that the Go module proxy has: `built` compiles it. */
  readonly built: string;
  /** kind 0.33.0's node image for it (its release notes), by digest: `published` pulls it. */
  readonly published: string;
  readonly digest: string;
  /** The month after which nobody mends it (kubernetes.io/releases/patch-releases). */
  readonly endOfLife: string;
}

/** Newest first: those that clusters are made of. */
export const kubernetesReleases: Readonly<Record<string, KubernetesRelease>> = {
  '1.37': {
    built: '1.37.2',
    published: '1.37.0',
    digest: 'sha256:a1ed56cfb0e7b93589bdf97c8cd566405a265939e3620fc4f5de89adff580ae5',
    endOfLife: '2027-10',
  },
  '1.36': {
    built: '1.36.3',
    published: '1.36.4',
    digest: 'sha256:099e049362a1526b2db71494e1947aae99bd16290d7c895f2b7ea312e3cbfaed',
    endOfLife: '2027-06',
  },
  '1.35': {
    built: '1.35.4',
    published: '1.35.8',
    digest: 'sha256:07b2536e30b803ed61d1677a79df6115f798ce64c80f9e22f6ed45afd09323c0',
    endOfLife: '2027-02',
  },
  '1.34': {
    built: '1.34.4',
    published: '1.34.11',
    digest: 'sha256:44e222ee2132dab25ff87301682f89eb82c7880ea3a1bf543bfe9708fd08d67d',
    endOfLife: '2026-10',
  },
};

/** `1.37` of `1.37` and of `1.37.2`. */
export const minorOf = (kubernetes: string): string => kubernetes.split('.', 2).join('.');

/** A minor that the model plays, or a patch of one. */
export const isKubernetes = (word: string): boolean =>
  /^1\.\d+(\.\d+)?$/.test(word) && kubernetesMinors.includes(minorOf(word));

export const kubernetesWords = `${kubernetesMinors[0] ?? ''} to ${kubernetesMinors.at(-1) ?? ''}, or a patch such as 1.37.2`;

/** By name: on or off, for all components. */
export type FeatureGates = Readonly<Record<string, boolean>>;

/** `A=true, B=false`, as the flag takes them. */
export const gatesText = (gates: FeatureGates): string =>
  Object.entries(gates)
    .map(([name, on]) => `${name}=${on}`)
    .join(', ');

const leaseGate = 'NodeControllerLeaseCircuitBreaker';
export const restartGate = 'ChangeContainerStatusOnKubeletRestart';
const gatesOf: Readonly<Record<string, readonly string[]>> = {
  '1.35': [restartGate],
  '1.36': [restartGate],
  '1.37': [restartGate, leaseGate],
};

/** Feature gates that the model plays, in that version. */
export const modelledGates = (kubernetes: string): readonly string[] =>
  gatesOf[minorOf(kubernetes)] ?? [];

/**
 * Whether a node's Lease is read from the API before the node is given up: one whose resourceVersion
 * is not that of the last renewal seen counts as a stale cache, and the node is left as it is
 * (nodelifecycle/node_lifecycle_controller.go tryUpdateNodeHealth; on by default since 1.37).
 */
export const asksLeaseAgain = (of: {
  readonly version: string;
  readonly featureGates: FeatureGates;
}): boolean =>
  modelledGates(of.version).includes(leaseGate) && of.featureGates[leaseGate] !== false;

/**
 * The full version that images are made of, e.g. `1.37.2` for `1.37`.
 * Throws UsageError `KUBERNETES_NOT_MEASURABLE` or `KUBERNETES_NOT_PUBLISHED`.
 */
export function releaseOf(kubernetes: string, source: 'built' | 'published'): string {
  const release = kubernetesReleases[minorOf(kubernetes)];
  if (release === undefined) {
    const known = Object.keys(kubernetesReleases).join(', ');
    throw new UsageError(
      'KUBERNETES_NOT_MEASURABLE',
      `Kubernetes ${kubernetes} runs on the model only, not on a cluster`,
      { hint: `clusters run ${known}`, again: ['--cluster', 'sim'] },
    );
  }
  const isPatch = kubernetes !== minorOf(kubernetes);
  if (source === 'built') return isPatch ? kubernetes : release.built;
  if (!isPatch || kubernetes === release.published) return release.published;
  throw new UsageError(
    'KUBERNETES_NOT_PUBLISHED',
    `there is no pinned node image of Kubernetes ${kubernetes}`,
    { hint: `use ${release.published}, or build it here`, again: ['--images', 'built'] },
  );
}

export const msUs = 1000;
export const secondUs = 1_000_000;

/** A duration drawn uniformly from a range. */
export interface DurationRange {
  readonly minUs: number;
  readonly maxUs: number;
}

export const rangeMs = (min: number, max: number): DurationRange => ({
  minUs: min * msUs,
  maxUs: max * msUs,
});

/** The calls that Kubernetes makes to the driver of a disk, by their RPC names. */
export const csiCalls = {
  publish: 'ControllerPublishVolume',
  unpublish: 'ControllerUnpublishVolume',
  stage: 'NodeStageVolume',
  unstage: 'NodeUnstageVolume',
  nodePublish: 'NodePublishVolume',
  nodeUnpublish: 'NodeUnpublishVolume',
} as const;
export type CallName = keyof typeof csiCalls;

/**
 * Kubernetes v1.34.4, read in its source: one table for the model, which plays by it, and for what a run
 * waits for. Timers that a scenario can change are in lib/run/ports/limits.ts.
 */
export const kubernetesTimes = {
  /** Share by which a status update's period may be longer (kubelet.go JitterUntil). */
  statusJitter: 0.04,
  /** node_lifecycle_controller.go doNoExecuteTaintingPass runs every 100 ms. */
  taintPass: rangeMs(0, 100),
  /** podgc/gc_controller.go gcCheckPeriod. */
  podGcUs: 20 * secondUs,
  /** podgc/gc_controller.go quarantineTime: a node must be missing so long. */
  quarantineUs: 40 * secondUs,
  /** cloud-provider node_lifecycle_controller.go MonitorNodes: --node-monitor-period 5 s, of each machine. */
  cloudLookUs: 5 * secondUs,
  /** attach_detach_controller.go DefaultTimerConfig.ReconcilerLoopPeriod. */
  attachDetachPassUs: 100 * msUs,
  /** csi_attacher.go: the attachment's status is polled at 500 ms × 1.05 each time, 10 % jitter. */
  attachmentPollUs: 500 * msUs,
  attachmentPollGrowth: 1.05,
  attachmentPollJitter: 0.1,
  attachmentPollMaxUs: 7 * secondUs,
  /** csi_plugin.go csiTimeout: an attach or detach, or a kubelet's call, that takes longer has failed. */
  csiTimeoutUs: 120 * secondUs,
  /** external-attacher: --timeout 15 s, of each call to the driver (csi_handler.go csiAttach, csiDetach). */
  attacherTimeoutUs: 15 * secondUs,
  /** attach_detach_controller.go DefaultTimerConfig: VerifyVolumesAreAttached runs each minute. */
  attachDetachSyncUs: 60 * secondUs,
  /** kuberuntime_container.go minimumGracePeriodInSeconds: no container is killed sooner. */
  leastGraceUs: 2 * secondUs,
  /** volume_manager.go reconcilerLoopSleepPeriod. */
  volumeReconcile: rangeMs(0, 100),
  /** --leader-elect-lease-duration: a new leader waits until the dead one's lease has not moved so long. */
  leaderLeaseUs: 15 * secondUs,
  /** --leader-elect-renew-deadline: a leader that could not renew so long ends itself. */
  leaderRenewUs: 10 * secondUs,
  /** --leader-elect-retry-period 2 s, up to 2.2 times as long (leaderelection.go JitterFactor). */
  leaderRetry: rangeMs(0, 4400),
  /** Restart back-off of a container: 10 s, doubled up to 5 min (kubelet.go). */
  crashBackOffUs: 10 * secondUs,
  crashBackOffMaxUs: 300 * secondUs,
  /** After a kubelet's start a probe waits for a part of its period (prober/worker.go run): 5 s here. */
  probeAgain: rangeMs(0, 5000),
  /** A volume operation that failed is tried again after 500 ms, doubled up to 2 min 2 s
   * (goroutinemap/exponentialbackoff). */
  volumeBackOff: { firstUs: 500 * msUs, maxUs: 122 * secondUs },
  /** external-attacher: --retry-interval-start 1 s, --retry-interval-max 5 min. */
  attacherBackOff: { firstUs: secondUs, maxUs: 300 * secondUs },
  /** external-attacher: --resync 10 min, of its informers (cmd/csi-attacher/main.go). */
  attacherResyncUs: 600 * secondUs,
  /**
   * Until a kubelet knows that its connection is dead: 30 s without a frame, then 15 s without an
   * answer to a ping (apimachinery net/http.go); the last frame came up to 10 s before the cut.
   */
  connectionLost: rangeMs(35_000, 45_000),
  /**
   * KubeletConfiguration runtimeRequestTimeout. Each report asks the runtime for its version (nodestatus/setters.go
   * VersionInfo): of one that hangs the next report tells nothing for so long. On kind: NotReady 121 s after the stall.
   */
  runtimeRequestUs: 120 * secondUs,
  /** It asks each 5 s (updateRuntimeUp). */
  runtimeLook: rangeMs(0, 5000),
  /**
   * A watch that could not be had is tried again after 0.8 s, doubled up to 30 s, each up to twice as
   * long by jitter (client-go tools/cache/reflector.go NewReflectorWithOptions).
   */
  watchBackOff: { firstUs: 800 * msUs, maxUs: 30 * secondUs },
  watchJitter: 1,
} as const;

/**
 * What Kubernetes does once many nodes of a zone are lost: it taints fewer of them, or none. Source:
 * pkg/controller/nodelifecycle/node_lifecycle_controller.go of 1.34 (ComputeZoneState,
 * handleDisruption, ReducedQPSFunc); defaults of cmd/kube-controller-manager/app/options. Every cluster
 * made here gets them by flag, so that a run can name them.
 */
export const zoneLimits = {
  /** --node-eviction-rate: nodes tainted NoExecute per second and zone, in a burst of one. */
  evictionRate: 0.1,
  /** --secondary-node-eviction-rate: the same in an unhealthy zone of a large cluster. */
  secondaryEvictionRate: 0.01,
  /** --large-cluster-size-threshold: up to so many nodes the rate of an unhealthy zone is 0. */
  largeClusterNodes: 50,
  /** --unhealthy-zone-threshold: a zone with this share of lost nodes, at least 3, is unhealthy. */
  unhealthyShare: 0.55,
} as const;

/** Fewer lost nodes than this never make a zone unhealthy (ComputeZoneState: more than two). */
const leastLost = 3;

export type ZoneState = 'normal' | 'partly lost' | 'all lost';

/** State of one zone; nodes without a zone label, the control plane's among them, are one zone. */
export function zoneState(ready: number, lost: number): ZoneState {
  if (ready === 0 && lost > 0) return 'all lost';
  const share = lost / (lost + ready);
  return lost >= leastLost && share >= zoneLimits.unhealthyShare ? 'partly lost' : 'normal';
}

/** Nodes tainted per second in a cluster of one zone. Where all are lost, all taints go, too. */
export function taintRate(ready: number, lost: number): number {
  const state = zoneState(ready, lost);
  if (state === 'normal') return zoneLimits.evictionRate;
  const isLarge = ready + lost > zoneLimits.largeClusterNodes;
  return state === 'partly lost' && isLarge ? zoneLimits.secondaryEvictionRate : 0;
}

/** For a run's versions. */
export const zoneLimitsText: string =
  `${zoneLimits.evictionRate} nodes/s a zone; from 3 and ${Math.round(zoneLimits.unhealthyShare * 100)} % lost: ` +
  `0 up to ${zoneLimits.largeClusterNodes} nodes, else ${zoneLimits.secondaryEvictionRate}/s`;
