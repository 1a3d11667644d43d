/**
 * What observers see: each observation's name and what it holds. One table, so that judge and report read
 * the same words and fields that the observers of kind and of the model write.
 */
import { z } from 'zod';
import { csiCalls } from '../core/index.ts';
import { groupSettingsSchema, linkStates } from '../scenario/index.ts';
import { groupView } from './workload.ts';

/** The names, for readers: `observed.nodeReady` is `node-ready`. */
export const observed = {
  observerBegan: 'observer-began',
  observerBeat: 'observer-beat',
  observerEnded: 'observer-ended',
  nodeReady: 'node-ready',
  nodeGone: 'node-gone',
  nodeTaints: 'node-taints',
  podCreated: 'pod-created',
  podScheduled: 'pod-scheduled',
  podRunning: 'pod-running',
  podReady: 'pod-ready',
  podTerminating: 'pod-terminating',
  podDisruption: 'pod-disruption',
  podPhase: 'pod-phase',
  podGone: 'pod-gone',
  attachmentCreated: 'attachment-created',
  attachmentAttached: 'attachment-attached',
  attachmentDeleting: 'attachment-deleting',
  attachmentFailed: 'attachment-failed',
  attachmentGone: 'attachment-gone',
  volumesAttached: 'volumes-attached',
  volumesInUse: 'volumes-in-use',
  event: 'event',
  forceDetachLog: 'force-detach-log',
  forceDetachMetric: 'force-detach-metric',
  leaderAcquired: 'leader-acquired',
  apiRequest: 'api-request',
  csiCall: 'csi-call',
  mounted: 'mounted',
  unmounted: 'unmounted',
  deviceWritten: 'device-written',
  deviceCut: 'device-cut',
  linkChanged: 'link-changed',
  requestsHeld: 'requests-held',
  serverLog: 'server-log',
  selfFence: 'self-fence',
  watchReopened: 'watch-reopened',
  limits: 'limits',
  memberView: 'member-view',
  routed: 'routed',
  ledgerAnswer: 'read',
  ledgerRead: 'ledger-read',
  groupSettings: 'settings',
} as const;
export type ObservedName = (typeof observed)[keyof typeof observed];

const nothing: z.ZodType<object> = z.object({});
const strings = z.array(z.string());
/** `sees`: sources of observations (observers.ts). The record has a node where it sees there only. */
const observer = { observer: z.string(), sees: strings };
const pod = { pod: z.string(), uid: z.string() };
/** `volume`: the PersistentVolume's name. */
const attachment = z.object({ attachment: z.string(), volume: z.string() });
/** Path of a node to the volume; without generation for a shared directory, which has none. */
const path = {
  volume: z.string().optional(),
  device: z.string(),
  generation: z.number().optional(),
};
const line = z.object({ line: z.string() });
/** Whose side of a partition the client was on that saw it. */
const side = z.enum(['inside', 'outside']);

/**
 * What an observation of each name holds. Fields that are optional without a word came later than the
 * first histories, or are absent where the observed object had none.
 */
export const observedData = {
  'observer-began': z.object(observer),
  'observer-beat': z.object(observer),
  /** `reason`: why it ended by itself. */
  'observer-ended': z.object({ ...observer, reason: z.string().optional() }),
  // Source `api`: Kubernetes watches.
  'node-ready': z.object({
    status: z.enum(['True', 'False', 'Unknown']).optional(),
    reason: z.string().optional(),
  }),
  /** The Node object was deleted. */
  'node-gone': nothing,
  /** Each as `key:effect`. */
  'node-taints': z.object({ taints: strings }),
  'pod-created': z.object(pod),
  'pod-scheduled': z.object(pod),
  'pod-running': z.object({ ...pod, ip: z.string() }),
  'pod-ready': z.object({ ...pod, ready: z.boolean() }),
  /** `managers`: which components wrote the object, newest first. */
  'pod-terminating': z.object({
    ...pod,
    gracePeriodS: z.number().optional(),
    deletionAt: z.string().optional(),
    managers: strings.optional(),
  }),
  /** The pod's condition DisruptionTarget: the component that ends it. */
  'pod-disruption': z.object({
    ...pod,
    reason: z.string().optional(),
    message: z.string().optional(),
  }),
  'pod-phase': z.object({ ...pod, phase: z.string().optional() }),
  'pod-gone': z.object({
    ...pod,
    gracePeriodS: z.number().optional(),
    managers: strings.optional(),
  }),
  'attachment-created': attachment,
  'attachment-attached': attachment,
  'attachment-deleting': attachment,
  /** status.attachError or status.detachError: its message, as the attacher wrote it last. */
  'attachment-failed': attachment.extend({ what: z.enum(['attach', 'detach']), error: z.string() }),
  'attachment-gone': attachment,
  'volumes-attached': z.object({ volumes: strings }),
  'volumes-in-use': z.object({ volumes: strings }),
  /** `object`: `Kind/name`; `count`: how often so far; `from`: the component; `atMs`: the last time, Unix ms. */
  event: z.object({
    object: z.string(),
    reason: z.string().optional(),
    message: z.string().optional(),
    type: z.string().optional(),
    count: z.number().optional(),
    from: z.string().optional(),
    atMs: z.number().optional(),
  }),
  'watch-reopened': z.object({ message: z.string() }),
  // Source `controller-manager`.
  'force-detach-log': line,
  /** Forced detaches by their reason, since its process began. */
  'force-detach-metric': z.object({ timeout: z.number(), 'out-of-service': z.number() }),
  'leader-acquired': line,
  /** Source `audit`: a request that the API server answered. `resource`: with its subresource; `taints`: keys. */
  'api-request': z.object({
    verb: z.string(),
    resource: z.string(),
    object: z.string().optional(),
    namespace: z.string().optional(),
    user: z.string(),
    agent: z.string().optional(),
    code: z.number().optional(),
    gracePeriodS: z.number().optional(),
    uid: z.string().optional(),
    taints: strings.optional(),
  }),
  /** Source `csi`: a call to the driver, and what it noted on its way. Its record is of when it came in. */
  'csi-call': z.object({
    call: z.string(),
    durationMs: z.number(),
    volume: z.string().optional(),
    host: z.string().optional(),
    request: z.record(z.string(), z.unknown()).optional(),
    error: z.string().optional(),
    device: z.string().optional(),
    generation: z.number().optional(),
    detachMode: z.string().optional(),
    /** Bytes by `node/generation`. */
    writtenBefore: z.record(z.string(), z.number()).optional(),
    cut: z.array(z.looseObject({ generation: z.number() })).optional(),
    cutAfterMs: z.number().optional(),
    toBeCut: z.array(z.unknown()).optional(),
    freed: z.array(z.unknown()).optional(),
    preempted: z.array(z.unknown()).optional(),
    busy: z.array(z.unknown()).optional(),
    watchers: z.array(z.unknown()).optional(),
    outOfServiceTaint: z.boolean().optional(),
    formatBefore: z.string().optional(),
    formatted: z.boolean().optional(),
    fsck: z.string().optional(),
    fsckExitCode: z.number().optional(),
  }),
  // Source `mounts`: a volume's file system on a node.
  mounted: z.object(path),
  unmounted: z.object(path),
  // Source `devices`. Bytes written since the path was opened.
  'device-written': z.object({ ...path, bytesWritten: z.number() }),
  'device-cut': z.object({ ...path, bytesWritten: z.number() }),
  /** The node's way to the storage; it passes at first. */
  'link-changed': z.object({ state: z.enum(linkStates) }),
  /** So many requests wait for the link. */
  'requests-held': z.object({ ...path, held: z.number() }),
  /** Source: the server's program. A line of its error log. */
  'server-log': z.object({ line: z.string(), level: z.string().optional() }),
  /** Source `self-fence`: what the sidecar did. */
  'self-fence': line,
  /** Source `model`: what it does not show. */
  limits: z.object({ limits: strings }),
  // Source `group`, of a replication group (lib/judge/group). A member's view, when it changed.
  'member-view': z.union([
    z.object({ side, error: z.string() }),
    z.object({ side, ...groupView.shape }),
  ]),
  /** A router would send outside clients here from now on. */
  routed: nothing,
  /** A read of the ledger. `heads`: `connection/session` → last seq, of the outside client. */
  read: z.object({
    side,
    beganAtMs: z.number(),
    heads: z.record(z.string(), z.number()).optional(),
    error: z.string().optional(),
  }),
  /** What a whole reading of a member gave; without an image where it was not for one. */
  'ledger-read': z.object({
    image: z.enum(['first', 'second']).optional(),
    takenAtMs: z.number(),
    node: z.string().optional(),
    rows: z.number().optional(),
    checksums: strings.optional(),
    gtids: z.string().optional(),
    beyond: z.string().optional(),
    error: z.string().optional(),
  }),
  settings: groupSettingsSchema,
} as const satisfies Record<ObservedName, z.ZodType>;

/**
 * How the event begins that says that a volume is still attached to another node: until 1.36, and
 * since 1.37 (attachdetach/reconciler/reconciler.go reportMultiAttachError).
 */
export const attachGateTexts = ['Multi-Attach error', 'Waiting for detach'] as const;

export { csiCalls };
type CsiCall = (typeof csiCalls)[keyof typeof csiCalls];

type DataOf<Name extends ObservedName> = z.output<(typeof observedData)[Name]>;
type Either<T> = T extends unknown ? (each: T) => void : never;
type AllOf<T> = Either<T> extends (all: infer All) => void ? All : never;
/** Each field of any of them: a reader that does not ask for the name first finds it, or not. */
type AnyField = Partial<AllOf<DataOf<ObservedName>>>;

/** What every record that came at a time has. */
export interface Stamped {
  /** Monotonic milliseconds since the run began. */
  readonly t: number;
  /** Unix milliseconds; absent on operations, whose session record has it. */
  readonly wall?: number;
}

/** What an observer saw, of that name. `source`: which observer. */
export interface Observation<Name extends ObservedName> extends Stamped {
  readonly type: 'observation';
  readonly source: string;
  readonly name: Name;
  /** Node it concerns, where there is one. */
  readonly node?: string;
  readonly data: Readonly<DataOf<Name> & Omit<AnyField, keyof DataOf<Name>>>;
}
export type ObservationRecord = { [Name in ObservedName]: Observation<Name> }[ObservedName];

/** As an observer gives it, before anybody checked what it holds. */
export interface Seen extends Omit<Observation<ObservedName>, 'data'> {
  readonly data: Readonly<Record<string, unknown>>;
}

export const isObserved = (name: string): name is ObservedName => name in observedData;

/** Throws where what it holds is not what its name says. */
export function observationOf(seen: Seen): ObservationRecord {
  const { error } = observedData[seen.name].safeParse(seen.data);
  if (error === undefined) return seen as ObservationRecord;
  throw new Error(`an observation ${seen.name} is not valid: ${z.prettifyError(error)}`);
}

/** Those of these names, in their order. */
export function observationsOf<Name extends ObservedName>(
  records: Iterable<ObservationRecord>,
  ...names: readonly Name[]
): Observation<Name>[] {
  const wanted: ReadonlySet<string> = new Set(names);
  return [...records].filter((each): each is Observation<Name> & ObservationRecord =>
    wanted.has(each.name),
  );
}

/** Such a call to the driver, whatever it answered. */
export const isCall =
  (call: CsiCall) =>
  (seen: ObservationRecord): seen is Observation<'csi-call'> =>
    seen.name === observed.csiCall && seen.data.call === call;

/** One that it answered well. */
export const isGranted =
  (call: CsiCall) =>
  (seen: ObservationRecord): seen is Observation<'csi-call'> =>
    isCall(call)(seen) && seen.data.error === undefined;

export const isRefused =
  (call: CsiCall) =>
  (seen: ObservationRecord): seen is Observation<'csi-call'> =>
    isCall(call)(seen) && seen.data.error !== undefined;

/** Content that the crash canaries get right before the crash; the judge looks for it on the image. */
export const canaryContent = 'written right before the crash';
