/** Observer of the API server's audit log: who asked for which change (kind-config.ts). */
import { z } from 'zod';
import { observed } from '../../../history/observations.ts';
import { declareObserver, guarded } from '../../../history/observers.ts';
import type { Clock } from '../../../clock.ts';
import type { Recorder, Unstamped } from '../../../history/port.ts';
import type { Cluster } from '../cluster.ts';
import { followPodLogs, type LogLine } from './pod-log.ts';

const entrySchema = z.object({
  kind: z.literal('Event'),
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

/** A container's log goes back to its start: what was asked before the observer began is left out. */
export function observeAudit(
  { controlPlane, nodes, openStream }: Cluster,
  recorder: Recorder,
  clock: Clock,
  namespace = 'default',
): AsyncDisposable {
  const sinceMs = clock.wallMs();
  const pattern = '/var/log/pods/kube-system_kube-apiserver-*/kube-apiserver/*.log';
  const see = ({ text, stream }: LogLine): void => {
    if (stream !== 'stdout') return;
    const record = requestRecord(text, clock, namespace);
    if (record?.wall === undefined || record.wall < sinceMs) return;
    // Other workers are the victims and successors of other events.
    const node = 'node' in record ? record.node : undefined;
    if (node !== undefined && ![controlPlane, ...nodes].includes(node)) return;
    recorder.record(record);
  };
  const source = 'audit';
  const declared = { observer: source, sees: [source], node: controlPlane };
  const beating = declareObserver(recorder, declared);
  const hear = guarded(recorder, source, see);
  return followPodLogs(controlPlane, pattern, hear, { openStream, beating });
}

/**
 * Stamped when the request came in. Undefined where the line is none of ours: it must be about the
 * volume, a node, or something in the database's namespace.
 */
export function requestRecord(
  text: string,
  clock: Clock,
  ownNamespace = 'default',
): Unstamped | undefined {
  const entry = parseEntry(text);
  const near = [undefined, '', ownNamespace];
  if (entry === undefined || !near.includes(entry.objectRef.namespace)) return undefined;
  const { verb, user, userAgent, objectRef, responseStatus, requestObject } = entry;
  const { resource, subresource, name, namespace } = objectRef;
  const wall = Date.parse(entry.requestReceivedTimestamp);
  const options = objectSchema.safeParse(requestObject);
  const asked = options.success ? options.data : undefined;
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
  const told = Object.fromEntries(
    Object.entries(data).filter(([, value]) => value !== undefined && value !== null),
  );
  return {
    type: 'observation',
    t: clock.nowMs() - (clock.wallMs() - wall),
    wall,
    source: 'audit',
    name: observed.apiRequest,
    ...(resource === 'nodes' && name !== undefined ? { node: name } : {}),
    data: told,
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
