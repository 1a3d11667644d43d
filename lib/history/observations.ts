/** What observers see: the names that all use, and how an observer says that it sees, beats and ends. */
import { describeError } from '../core/index.ts';
import type { ObservationRecord, HistoryRecord, RowRecord } from './records.ts';

export const observed = {
  // source `observer`: data.observer, data.sees: sources of observations; with a node
  // where it sees there only. data.reason: why one ended by itself
  observerBegan: 'observer-began',
  observerBeat: 'observer-beat',
  observerEnded: 'observer-ended',
  // source `api`: Kubernetes watches. data.uid / data.pod where a pod is meant.
  nodeReady: 'node-ready', // data.status: 'True' | 'False' | 'Unknown', data.reason
  nodeGone: 'node-gone', // the Node object was deleted
  nodeTaints: 'node-taints', // data.taints: string[] like `key:effect`
  podCreated: 'pod-created', // data.pod, data.uid
  podScheduled: 'pod-scheduled',
  podRunning: 'pod-running', // data.ip
  podReady: 'pod-ready', // data.ready: boolean
  podTerminating: 'pod-terminating', // data.gracePeriodS, data.managers
  // The pod's condition DisruptionTarget: who says that he ends it. data.reason, data.message
  podDisruption: 'pod-disruption',
  podPhase: 'pod-phase', // data.phase
  podGone: 'pod-gone', // data.managers: who wrote the object last, newest first
  attachmentCreated: 'attachment-created', // data.attachment, data.volume
  attachmentAttached: 'attachment-attached',
  attachmentDeleting: 'attachment-deleting',
  attachmentGone: 'attachment-gone',
  volumesAttached: 'volumes-attached', // data.volumes: string[]
  volumesInUse: 'volumes-in-use', // data.volumes: string[]
  // data.object: `Kind/name`, data.reason, data.message, data.type: 'Warning' | 'Normal', data.count:
  // how often so far, data.from: the component; data.atMs: when last, Unix ms. Since version 3 all
  event: 'event',
  // source `controller-manager`
  forceDetachLog: 'force-detach-log', // data.line
  // data.timeout, data['out-of-service']: forced detaches since its process began
  forceDetachMetric: 'force-detach-metric',
  leaderAcquired: 'leader-acquired',
  // source `audit`: a request that the API server answered. data.verb, data.resource, data.object,
  // data.user, data.agent, data.code, data.gracePeriodS?, data.uid?, data.taints?
  apiRequest: 'api-request',
  // source `csi`: one per call. data.call, data.volume, data.durationMs, data.error?, data.generation?
  csiCall: 'csi-call',
  // source `mounts`: a volume's file system on a node. data.device
  mounted: 'mounted',
  unmounted: 'unmounted',
  // source `devices`: data.device, data.generation, data.bytesWritten (since attach)
  deviceWritten: 'device-written',
  deviceCut: 'device-cut',
  // The node's way to the storage. data.state: 'pass' | 'stall' | 'fail'; it passes at first.
  linkChanged: 'link-changed',
  // data.device, data.generation, data.held: so many requests wait for the link
  requestsHeld: 'requests-held',
  // source: the server's program. A line of its error log. data.line, data.level
  serverLog: 'server-log',
  // source `self-fence`: what the sidecar did. data.line
  selfFence: 'self-fence',
} as const;

export type ObservedName = (typeof observed)[keyof typeof observed];

/**
 * How the event begins that says that a volume is still attached to another node: until 1.36, and
 * since 1.37 (attachdetach/reconciler/reconciler.go reportMultiAttachError).
 */
export const attachGateTexts = ['Multi-Attach error', 'Waiting for detach'] as const;

/** Calls as data.call names them (CSI RPC names). */
export const csiCalls = {
  publish: 'ControllerPublishVolume',
  unpublish: 'ControllerUnpublishVolume',
  stage: 'NodeStageVolume',
  unstage: 'NodeUnstageVolume',
  nodePublish: 'NodePublishVolume',
  nodeUnpublish: 'NodeUnpublishVolume',
} as const;
type CsiCall = (typeof csiCalls)[keyof typeof csiCalls];
type NamedObservation = Pick<ObservationRecord, 'name' | 'data'>;

/** Such a call to the driver, whatever it answered. */
export const isCall =
  (call: CsiCall) =>
  ({ name, data }: NamedObservation): boolean =>
    name === observed.csiCall && data['call'] === call;

/** One that it answered well. */
export const isGranted =
  (call: CsiCall) =>
  (seen: NamedObservation): boolean =>
    isCall(call)(seen) && seen.data['error'] === undefined;

export const isRefused =
  (call: CsiCall) =>
  (seen: NamedObservation): boolean =>
    isCall(call)(seen) && seen.data['error'] !== undefined;

/** Content that the crash canaries get right before the crash; the judge looks for it on the image. */
export const canaryContent = 'written right before the crash';

/** Where everything that is seen or done is recorded. Records are stamped by the recorder. */
export interface Recorder {
  record(record: Unstamped | RowRecord): void;
  /** Hears of every record but operations and rows from now on; returns what ends it. */
  subscribe(listener: (record: HistoryRecord) => void): () => void;
}
type WithoutStamp<T> = T extends { t: number } ? Omit<T, 't' | 'wall'> : never;
/** A record before the recorder stamps it; an observer that knows better may stamp it itself. */
export type Unstamped = WithoutStamp<HistoryRecord> & {
  readonly t?: number;
  readonly wall?: number;
};

/** One that sees beats so often, also where there is nothing to see. */
export const beatEveryMs = 20_000;
/** Between two beats it is no longer than this, or the observer was blind: a busy machine is late. */
export const beatWithinMs = 90_000;

/** How often a fault that lasts is asked whether it holds: once a minute with stock timers; a run with a shorter grace period is over sooner. */
export const askAgainEveryMs = (graceMs: number): number =>
  Math.min(60_000, Math.max(5000, 1.2 * graceMs));

/** Between two answers it is no longer than this: the machine may be busy, and a fault has four probes. */
export const askedWithinMs = (graceMs: number): number => 2 * askAgainEveryMs(graceMs) + 60_000;

export interface Beating {
  /** It has just looked, and saw. `t`: when, on the run's clock. One that had ended begins anew. */
  beat(t?: number): void;
  /**
   * It is closed in good order; or, with a `reason`, what it looked at is gone, such as a node that
   * was switched off. Idempotent.
   */
  end(reason?: string): void;
}

export interface Declared {
  readonly observer: string;
  /** The sources of its observations. */
  readonly sees: readonly string[];
  /** Where it can see on this node only, so that it goes when the node does. */
  readonly node?: string;
}

/**
 * `look` as a callback that never throws: whatever it throws is evidence that is missing, which the
 * history says, and the observer, the others and the run go on. Every callback of an observer is one.
 */
export const guarded =
  <T extends readonly unknown[]>(
    recorder: Recorder,
    observer: string,
    look: (...seen: T) => unknown,
  ): ((...seen: T) => Promise<void>) =>
  async (...seen) => {
    try {
      await look(...seen);
    } catch (error) {
      const message = describeError(error);
      recorder.record({ type: 'error', where: `observer of ${observer}`, message });
    }
  };

export function declareObserver(recorder: Recorder, { observer, sees, node }: Declared): Beating {
  let on = true;
  const say = (
    name: string,
    more: { readonly t?: number; readonly reason?: string } = {},
  ): void => {
    const { t, ...about } = more;
    recorder.record({
      ...{ type: 'observation', source: 'observer', name, data: { observer, sees, ...about } },
      ...(node === undefined ? {} : { node }),
      ...(t === undefined ? {} : { t }),
    });
  };
  say(observed.observerBegan);
  return {
    beat(t) {
      const more = t === undefined ? {} : { t };
      if (!on) say(observed.observerBegan, more);
      on = true;
      say(observed.observerBeat, more);
    },
    end(reason) {
      if (!on) return;
      on = false;
      say(observed.observerEnded, reason === undefined ? {} : { reason });
    },
  };
}
