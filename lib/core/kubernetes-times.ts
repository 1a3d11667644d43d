/**
 * Kubernetes' own times, in microseconds, each with its source: one table for the model, which plays by
 * them, and for those who say what a run waits for. Stock timers that a scenario can change are not
 * here (timers.ts).
 */

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

/** Kubernetes v1.34.4, read in its source. */
export const kubernetesTimes = {
  /** Share by which a status update's period may be longer (kubelet.go JitterUntil). */
  statusJitter: 0.04,
  /** node_lifecycle_controller.go doNoExecuteTaintingPass runs every 100 ms. */
  taintPass: rangeMs(0, 100),
  /** --node-eviction-rate 0.1: one node of a zone is tainted NoExecute in 10 s (flowcontrol, burst 1). */
  taintTurnUs: 10 * secondUs,
  /** Three nodes not Ready and 55 % of a zone of up to 50: none is tainted (ComputeZoneState, ReducedQPSFunc). */
  disruptedNodes: 3,
  disruptedShare: 0.55,
  smallZone: 50,
  /** podgc/gc_controller.go gcCheckPeriod. */
  podGcUs: 20 * secondUs,
  /** podgc/gc_controller.go quarantineTime: a node must be missing so long. */
  quarantineUs: 40 * secondUs,
  /** attach_detach_controller.go DefaultTimerConfig.ReconcilerLoopPeriod. */
  attachDetachPassUs: 100 * msUs,
  /** csi_attacher.go: the attachment's status is polled at 500 ms × 1.05 each time, 10 % jitter. */
  attachmentPollUs: 500 * msUs,
  attachmentPollGrowth: 1.05,
  attachmentPollJitter: 0.1,
  attachmentPollMaxUs: 7 * secondUs,
  /** csi_plugin.go csiTimeout: an attach or detach that takes longer has failed. */
  attachmentTimeoutUs: 120 * secondUs,
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
   * A watch that could not be had is tried again after 0.8 s, doubled up to 30 s, each up to twice as
   * long by jitter (client-go tools/cache/reflector.go NewReflectorWithOptions).
   */
  watchBackOff: { firstUs: 800 * msUs, maxUs: 30 * secondUs },
  watchJitter: 1,
} as const;
