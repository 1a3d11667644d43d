/**
 * What takes the volume from a victim that Kubernetes no longer reaches. There are two gates: a
 * successor's pod (with a StatefulSet only once the old object is gone), and the detach.
 */
import { kubernetesTimes, msUs, asksLeaseAgain } from '../../core/index.ts';
import {
  isDirectory,
  controlPlaneFaults,
  silencesKubelet,
  type FaultKind,
  removesPodObject,
  takesAttachment,
  taints,
  type Scenario,
} from '../../scenario/index.ts';

export type Release =
  /** The pod object stays: nothing is detached. */
  | 'kept by the pod'
  /** The node stays Ready, because somebody wrote to its Lease: it is not evicted, and no wait ends. */
  | 'kept by the lease'
  /** The pod is gone, and the controller manager waits for an unmount for ever. */
  | 'kept by the controller'
  /** The wait for an unmount is over. */
  | 'timeout'
  /** The out-of-service taint: there is no wait. */
  | 'taint'
  /** That taint, taken away before the pod GC must have seen it. */
  | 'untainted early'
  /** The paths were cut before the taint. */
  | 'fenced first'
  /** The VolumeAttachment was deleted by hand, and the storage asked to detach. */
  | 'by hand'
  /** The same with its finalizer stripped, while no attacher runs: the storage was never asked. */
  | 'unasked'
  /** The same while one runs, which may have asked before the finalizer was gone. */
  | 'raced'
  /** The same while two pods want the volume, the old one and its replacement. */
  | 'contested'
  /** Nothing has to be detached before the next node may mount. */
  | 'not needed';

/** Faults that leave the victim's kubelet at work: no pod is evicted. */
export const sparing = [...controlPlaneFaults, 'kubelet-restart', 'none'] as const;
const isSparing = (fault: FaultKind): boolean => (sparing as readonly string[]).includes(fault);

/** The pod GC's look, and the removal itself. */
const podGcMs = kubernetesTimes.podGcUs / msUs + 2_000;

export function volumeReleaseOf(scenario: Scenario): Release {
  const {
    fault: { kind: fault },
    remedy: { kind: remedy, untaintAt },
    also: { kind: also },
    timers: { forceDetach },
    disk: { mode: disk },
    volume: { accessMode },
  } = scenario;
  const isGated = !isDirectory(disk) && accessMode !== 'ReadWriteMany';
  if (remedy === 'fence-first') return 'fenced first';
  if (replacesAtOnce(scenario) && !isGated) return 'not needed';
  if (isGated && staysReady(scenario)) return 'kept by the lease';
  if (!podGoes(scenario) && !isGivenUp(scenario)) {
    const isContested = replacesAtOnce(scenario) && takesAttachment(remedy) && !isSparing(fault);
    return isContested ? 'contested' : 'kept by the pod';
  }
  if (taints(remedy)) {
    const isEarly = typeof untaintAt === 'number' && untaintAt < podGcMs;
    return isEarly ? 'untainted early' : 'taint';
  }
  if (!isGated) return 'not needed';
  if (remedy === 'strip-attachment-finalizer')
    return also === 'attacher-down' ? 'unasked' : 'raced';
  if (remedy === 'delete-attachment') return 'by hand';
  return forceDetach === 'on' ? 'timeout' : 'kept by the controller';
}

/** A renewal is up to a quarter of the lease old when the fault comes, and is seen a while later. */
const writtenInTimeShare = 0.7;

/**
 * A lost node is not given up once its Lease was written to in time. Then no unmount is waited for
 * in vain (reconciler.go: only where the node is not healthy); the operator may yet delete the Node, or
 * set the out-of-service taint where that takes the pod away at once.
 */
function staysReady(scenario: Scenario): boolean {
  const {
    also: { kind: also, at: alsoAt },
    fault: { kind: fault },
    timers: { grace: graceMs },
    remedy: { kind: remedy },
    workload: { terminationGrace },
  } = scenario;
  if (also !== 'lease-write' || !asksLeaseAgain(scenario.kubernetes)) return false;
  if (!silencesKubelet(fault) || fault === 'flapping-partition') return false;
  if (typeof alsoAt !== 'number' || alsoAt > graceMs * writtenInTimeShare) return false;
  return remedy !== 'delete-node' && !(taints(remedy) && terminationGrace === 0);
}

/** A Deployment's replacement comes with the eviction; a StatefulSet's name must be free first. */
const replacesAtOnce = ({ workload: { kind: workload } }: Scenario): boolean =>
  workload.startsWith('deployment');

/**
 * Terminating, a pod whose container was last reported as waiting pins nothing (util.IsPodTerminated);
 * only a Deployment has made another one by then that takes the volume.
 */
const isGivenUp = (scenario: Scenario): boolean =>
  scenario.fault.serverKills > 0 && replacesAtOnce(scenario);

/** Whether the object of a pod goes away although its kubelet can't confirm that it has stopped. */
function podGoes(scenario: Scenario): boolean {
  const {
    remedy: { kind: remedy },
    workload: { finalizer: podFinalizer, terminationGrace },
  } = scenario;
  // Marked as failed by the pod GC it wants no volume any more, but its name is still taken.
  if (podFinalizer && taints(remedy)) return replacesAtOnce(scenario);
  if (podFinalizer) return remedy === 'strip-pod-finalizer';
  // Without a grace period eviction itself is a forced deletion (#120671).
  if (terminationGrace === 0) return true;
  return removesPodObject(remedy);
}
