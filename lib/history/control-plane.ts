/** What the control plane writes itself: lines of the API server’s audit log and of the controller manager, and Events. */
import { z } from 'zod';
import { type ObservedName, observed, type observedData } from './observations.ts';

/** pkg/controller/volume/attachdetach/reconciler/reconciler.go: the line a force detach leaves. */
const forceDetachLine = /force detach/i;
const leaderLine = /successfully acquired lease|became leader/i;

/** What a line of the controller manager’s log reports; undefined for all others. */
export function managerLine(text: string): ObservedName | undefined {
  if (forceDetachLine.test(text)) return observed.forceDetachLog;
  return leaderLine.test(text) ? observed.leaderAcquired : undefined;
}

const entrySchema = z.object({
  kind: z.literal('Event'),
  stage: z.string().optional(),
  verb: z.string(),
  user: z.object({ username: z.string() }),
  userAgent: z.string().optional(),
  objectRef: z.object({
    resource: z.string(),
    subresource: z.string().optional(),
    name: z.string().optional(),
    namespace: z.string().optional(),
  }),
  responseStatus: z.object({ code: z.number() }).optional(),
  requestObject: z.unknown().optional(),
  requestReceivedTimestamp: z.string(),
});

const objectSchema = z.object({
  gracePeriodSeconds: z.number().nullish(),
  preconditions: z.object({ uid: z.string().nullish() }).nullish(),
  deleteOptions: z.object({ gracePeriodSeconds: z.number().nullish() }).nullish(),
});

type RequestData = z.output<(typeof observedData)['api-request']>;

export interface AuditRequest {
  /** When it came in. */
  readonly wallMs: number;
  readonly namespace: string | undefined;
  /** Of the node that it is about. */
  readonly node: string | undefined;
  /** As an observation `api-request` has it. */
  readonly data: RequestData;
  /** Where the policy keeps it. */
  readonly body: unknown;
}

/** A request that was answered, from a line of the audit log; undefined for any other line. */
export function auditRequest(text: string): AuditRequest | undefined {
  const entry = parseEntry(text);
  if (entry === undefined || (entry.stage ?? 'ResponseComplete') !== 'ResponseComplete')
    return undefined;
  const { verb, user, userAgent, objectRef, responseStatus, requestObject } = entry;
  const { resource, subresource, name, namespace } = objectRef;
  const asked = objectSchema.safeParse(requestObject).data;
  const data = {
    verb,
    resource: subresource === undefined ? resource : `${resource}/${subresource}`,
    object: name,
    namespace,
    user: user.username,
    agent: userAgent,
    code: responseStatus?.code,
    gracePeriodS: asked?.gracePeriodSeconds ?? asked?.deleteOptions?.gracePeriodSeconds,
    uid: asked?.preconditions?.uid,
    taints: resource === 'nodes' ? taintsIn(requestObject) : undefined,
  };
  return {
    wallMs: Date.parse(entry.requestReceivedTimestamp),
    namespace,
    node: resource === 'nodes' ? name : undefined,
    data: Object.fromEntries(
      Object.entries(data).filter(([, value]) => value != null),
    ) as unknown as RequestData,
    body: requestObject,
  };
}

function parseEntry(text: string): z.output<typeof entrySchema> | undefined {
  if (!text.startsWith('{"kind":"Event"')) return undefined;
  try {
    return entrySchema.safeParse(JSON.parse(text)).data;
  } catch {
    // A line longer than the runtime's buffer comes in parts; ours are far shorter.
    return undefined;
  }
}

/** A patch may be a list of operations or a part of the object; its taints are what matters. */
function taintsIn(patch: unknown): unknown {
  const text = JSON.stringify(patch) ?? '';
  const keys = [...text.matchAll(/"key":"([^"]+)"/g)].map((match) => match[1]);
  return text.includes('taints') ? keys : undefined;
}

type Maybe<T> = T | null | undefined;

/** Of an Event of the Kubernetes API. What comes by a watch may not have been decoded: text where the types have a Date. */
export interface WrittenEvent {
  readonly reason?: Maybe<string>;
  readonly message?: Maybe<string>;
  readonly type?: Maybe<string>;
  readonly count?: Maybe<number>;
  /** Without it an event is not whole. */
  readonly involvedObject: { readonly kind?: Maybe<string>; readonly name?: Maybe<string> };
  readonly source?: Maybe<{ readonly component?: Maybe<string>; readonly host?: Maybe<string> }>;
  readonly series?: Maybe<{
    readonly count?: Maybe<number>;
    readonly lastObservedTime?: Maybe<string | Date>;
  }>;
  readonly lastTimestamp?: Maybe<string | Date>;
  readonly eventTime?: Maybe<string | Date>;
  readonly reportingComponent?: Maybe<string>;
  readonly reportingInstance?: Maybe<string>;
}

/** As an observation `event` has it, and the node whose kubelet wrote it or that it is about. Throws TypeError where it is not whole. */
export function eventSeen(event: WrittenEvent) {
  const { reason, message, type, involvedObject, source, series } = event;
  const last = series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime;
  const data = {
    object: `${involvedObject.kind ?? '?'}/${involvedObject.name ?? '?'}`,
    ...{ reason, message, type },
    count: event.count ?? series?.count ?? 1,
    from: source?.component || event.reportingComponent,
    ...(last === undefined || last === null ? {} : { atMs: new Date(last).getTime() }),
  };
  const byKubelet = event.reportingComponent === 'kubelet' ? event.reportingInstance : undefined;
  const about = involvedObject.kind === 'Node' ? involvedObject.name : undefined;
  return { data, node: source?.host || byKubelet || about || undefined };
}
