/**
 * Observers of logs that survive a partition: one follower, and a table of what each log is and how its
 * lines become records. A line is stamped when it was written: it may be read seconds later.
 */
import { z } from 'zod';
import type { Clock } from '../../core/index.ts';
import type { Database } from '../../run/index.ts';
import {
  observed,
  type ObservedName,
  declareObserver,
  guarded,
  type Recorder,
  type Unstamped,
} from '../../history/index.ts';
import type { Cluster } from '../cluster.ts';
import { namespaceBeside, soleNamespace } from '../scope.ts';
import { followPodLogs, type LogLine } from './pod-log.ts';

export interface LogScope {
  /** Of the database. Default: that of a volume alone on the cluster. */
  readonly namespace?: string | undefined;
  /** Handle of the only volume whose forced detaches are meant. Default: all. */
  readonly volume?: string | undefined;
}

interface Reading {
  readonly database: Database;
  readonly clock: Clock;
  readonly namespace: string;
  readonly volume: string;
}

interface Log {
  readonly source: (database: Database) => string;
  /** `nodes`: an observer for each, which ends with its node. */
  readonly on: 'controlPlane' | 'nodes';
  readonly files: (database: Database, namespace: string) => string;
  /** Undefined where the line is none of ours. */
  readonly record: (line: LogLine, reading: Reading) => Unstamped | undefined;
}

const podLogs = '/var/log/pods/';

export const controllerManagerLog = `${podLogs}kube-system_kube-controller-manager-*/kube-controller-manager/*.log`;

/** Databases side by side are followed by one command, which prints the lines of all of them. */
export function containerLog(app: string, container: string, namespace = soleNamespace): string {
  const which = namespace === soleNamespace ? namespace : namespaceBeside('*');
  return `${podLogs}${which}_${app}-*/${container}/*.log`;
}

const containerRecord =
  (
    source: Log['source'],
    name: ObservedName,
    isKept: (text: string, database: Database) => boolean,
  ): Log['record'] =>
  ({ file, node, text, wallMs }, { database, clock, namespace }) =>
    file.startsWith(`${podLogs}${namespace}_`) && isKept(text, database)
      ? {
          ...{ ...written(clock, wallMs), type: 'observation', source: source(database) },
          ...{ name, node, data: { line: text } },
        }
      : undefined;

const written = (clock: Clock, wallMs: number): { readonly t: number; readonly wall: number } => ({
  t: clock.nowMs() - (clock.wallMs() - wallMs),
  wall: wallMs,
});

const serverOf = ({ server }: Database): string => server;
const selfFence = (): string => 'self-fence';

const logs = {
  'controller-manager': {
    source: () => 'controller-manager',
    on: 'controlPlane',
    files: () => controllerManagerLog,
    record: controllerManagerRecord,
  },
  audit: {
    source: () => 'audit',
    on: 'controlPlane',
    files: () => `${podLogs}kube-system_kube-apiserver-*/kube-apiserver/*.log`,
    record: ({ text, stream }, { clock, namespace }) =>
      stream === 'stdout' ? requestRecord(text, clock, namespace) : undefined,
  },
  server: {
    source: serverOf,
    on: 'nodes',
    files: ({ name }, namespace) => containerLog(name, name, namespace),
    record: containerRecord(serverOf, observed.serverLog, (text, { log }) => log.kept.test(text)),
  },
  'self-fence': {
    source: selfFence,
    on: 'nodes',
    files: ({ name }, namespace) => containerLog(name, 'self-fence', namespace),
    record: containerRecord(selfFence, observed.selfFence, () => true),
  },
} as const satisfies Readonly<Record<string, Log>>;

export function observeLogs(
  which: keyof typeof logs,
  { database, controlPlane, nodes, openStream }: Cluster,
  recorder: Recorder,
  clock: Clock,
  { namespace = soleNamespace, volume = '' }: LogScope = {},
): AsyncDisposable {
  const { on, files, record, ...log }: Log = logs[which];
  const source = log.source(database);
  // The audit log goes back to the API server's start.
  const sinceMs = which === 'audit' ? clock.wallMs() : Number.NEGATIVE_INFINITY;
  const take = (line: LogLine): void => {
    const found = record(line, { database, clock, namespace, volume });
    if (found === undefined || Number(found.wall) < sinceMs) return;
    // Other workers are the victims and successors of other events.
    if ('node' in found && ![controlPlane, ...nodes].includes(found.node ?? controlPlane)) return;
    recorder.record(found);
  };
  const followers = (on === 'nodes' ? nodes : [controlPlane]).map((node) => {
    const beating = declareObserver(recorder, { observer: source, sees: [source], node });
    const following = { openStream, beating };
    return followPodLogs(
      node,
      files(database, namespace),
      guarded(recorder, source, take),
      following,
    );
  });
  return {
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.all(followers.map((follower) => follower[Symbol.asyncDispose]()));
    },
  };
}

/** pkg/controller/volume/attachdetach/reconciler/reconciler.go: the line a force detach leaves. */
const forceDetachLine = /force detach/i;
const leaderLine = /successfully acquired lease|became leader/i;

function controllerManagerRecord(
  { text, wallMs }: LogLine,
  { clock, volume }: Reading,
): Unstamped | undefined {
  const isForced = forceDetachLine.test(text) && text.includes(volume);
  if (!isForced && !leaderLine.test(text)) return undefined;
  const name = isForced ? observed.forceDetachLog : observed.leaderAcquired;
  const source = 'controller-manager';
  return { ...written(clock, wallMs), type: 'observation', source, name, data: { line: text } };
}

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

/**
 * A line of the API server's audit log (kind-config.ts): who asked for which change, stamped when the request
 * came in. It must be about the volume, a node, or something in the database's namespace.
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
    ...written(clock, Date.parse(entry.requestReceivedTimestamp)),
    ...{ type: 'observation', source: 'audit', name: observed.apiRequest },
    ...(resource === 'nodes' && name !== undefined ? { node: name } : {}),
    data: Object.fromEntries(Object.entries(data).filter(([, value]) => value != null)),
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
