/**
 * Names that observers give to what they see. One list, so that phases, licence and report read the
 * same words that the observers of kind and of the model write.
 */
import type { ObservationRecord } from './events.ts';

export const observed = {
  // source `observer`: data.observer, data.sees: sources of observations (observers.ts); with a node
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
