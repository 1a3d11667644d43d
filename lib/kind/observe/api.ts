/** Observer of the Kubernetes API: nodes, the database's pods, VolumeAttachments, events. */
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  CoreV1Event,
  KubeConfig,
  KubernetesObject,
  V1Node,
  V1ObjectMeta,
  V1Pod,
  V1VolumeAttachment,
} from '@kubernetes/client-node';
import {
  observed,
  type ObservedName,
  beatEveryMs,
  type Beating,
  declareObserver,
  eventSeen,
  guarded,
  type Recorder,
} from '../../history/index.ts';
import { isReady } from '../../core/index.ts';

interface ApiScope {
  readonly kubeConfig: KubeConfig;
  readonly namespace: string;
  readonly podSelector: string;
  /** The run's own nodes: of others it is kept only whether they are Ready. Default: all. */
  readonly nodes?: readonly string[];
  /** Only attachments of this PersistentVolume. Default: all. */
  readonly volumeName?: string;
}

/** Watches until disposed. A watch that breaks is opened again and what it missed is read anew. */
export async function observeApi(scope: ApiScope, recorder: Recorder): Promise<AsyncDisposable> {
  const { CoreV1Api, StorageV1Api, makeInformer } = await import('@kubernetes/client-node');
  const { kubeConfig, namespace, podSelector, volumeName } = scope;
  const core = kubeConfig.makeApiClient(CoreV1Api);
  const storage = kubeConfig.makeApiClient(StorageV1Api);
  const changes = new Changes(recorder);
  const ended = new AbortController();
  const connect = <T extends KubernetesObject>(
    informer: Watchable<T>,
    see: (object: T, gone: boolean) => unknown,
  ): void => follow(informer, see, recorder, ended.signal);

  const lists = [
    () => core.listNode(),
    () => core.listNamespacedPod({ namespace, labelSelector: podSelector }),
    () => storage.listVolumeAttachment(),
  ] as const;
  const podsPath = `/api/v1/namespaces/${namespace}/pods`;
  const attachmentsPath = '/apis/storage.k8s.io/v1/volumeattachments';
  const informers = [
    makeInformer<V1Node>(kubeConfig, '/api/v1/nodes', lists[0]),
    makeInformer<V1Pod>(kubeConfig, podsPath, lists[1], podSelector),
    makeInformer<V1VolumeAttachment>(kubeConfig, attachmentsPath, lists[2]),
    makeInformer<CoreV1Event>(kubeConfig, '/api/v1/events', () => core.listEventForAllNamespaces()),
  ] as const;
  connect(informers[0], (node, gone) => {
    const name = nameOf(node);
    if (gone) changes.gone(name, observed.nodeGone, name, {});
    else changes.note(name, statesOfNode(node, scope.nodes?.includes(name) !== false));
  });
  connect(informers[1], (pod, gone) => {
    if (!gone) return changes.note(uidOf(pod), statesOfPod(pod));
    const { name, uid, deletionGracePeriodSeconds: gracePeriodS } = pod.metadata ?? {};
    const data = { pod: name, uid, gracePeriodS, managers: managersOf(pod.metadata) };
    changes.gone(uidOf(pod), observed.podGone, pod.spec?.nodeName, data);
  });
  connect(informers[2], (each, gone) => {
    const { source, nodeName } = each.spec;
    if (volumeName !== undefined && source.persistentVolumeName !== volumeName) return;
    if (!gone) changes.note(uidOf(each), statesOfAttachment(each));
    else changes.gone(uidOf(each), observed.attachmentGone, nodeName, aboutAttachment(each));
  });
  // Those about nodes are in the default namespace.
  const near = [namespace, 'default', undefined];
  connect(informers[3], (event, gone) => {
    if (!gone && near.includes(event.metadata.namespace)) recordEvent(event, recorder);
  });
  await Promise.all(informers.map((informer) => informer.start()));
  const observer = declareObserver(recorder, { observer: 'api', sees: ['api'] });
  const watches = lists.map((list, index) => ({
    list,
    known: (name: string, within?: string) => informers[index]?.get(name, within),
  }));
  const beat = guarded(recorder, 'api', beatWhileSeeing);
  const beating = beat(watches, observer, ended.signal);

  return {
    async [Symbol.asyncDispose](): Promise<void> {
      ended.abort();
      await beating;
      observer.end();
      await Promise.all(informers.map((informer) => informer.stop()));
    },
  };
}

interface Watchable<T> {
  on(verb: 'add' | 'update' | 'delete', callback: (object: T) => unknown): void;
  on(verb: 'error', callback: (error: unknown) => void): void;
  start(): Promise<void>;
}

/** The API server ends a watch now and then, and a broken one reports an error: both start anew. */
const reopenAfterMs = 200;

function follow<T extends KubernetesObject>(
  informer: Watchable<T>,
  see: (object: T, gone: boolean) => unknown,
  recorder: Recorder,
  ended: AbortSignal,
): void {
  const hear = guarded(recorder, 'api', see);
  informer.on('add', (object) => hear(object, false));
  informer.on('update', (object) => hear(object, false));
  informer.on('delete', (object) => hear(object, true));
  const reopen = (error: unknown): void => {
    // Stopping an informer breaks its watch: that is no reason to open it again.
    if (ended.aborted) return;
    const data = { message: String(error) };
    recorder.record({ type: 'observation', source: 'api', name: 'watch-reopened', data });
    setTimeout(() => void start(), reopenAfterMs);
  };
  const start = async (): Promise<void> => {
    if (!ended.aborted) await informer.start().catch(reopen);
  };
  informer.on('error', reopen);
}

/** Told anew each time its count grows. */
function recordEvent(event: CoreV1Event, recorder: Recorder): void {
  const { data, node } = eventSeen(event);
  recorder.record({
    ...{ type: 'observation', source: 'api', name: observed.event, data },
    ...(node === undefined ? {} : { node }),
  });
}

export interface Watching {
  list(): Promise<{ readonly items: readonly KubernetesObject[] }>;
  /** What the watch has of it. */
  known(name: string, namespace?: string): KubernetesObject | undefined;
}

interface BeatTimes {
  readonly everyMs: number;
  /** A list that takes longer was not answered. */
  readonly listedWithinMs: number;
  /** A watch is told of a change within milliseconds. */
  readonly knownWithinMs: number;
}

const usual: BeatTimes = { everyMs: beatEveryMs, listedWithinMs: 10_000, knownWithinMs: 2000 };

/**
 * Does a watch of the Kubernetes API still see? What a list says now, it must know soon.
 * Beats until aborted, whenever all watches know all that was listed; else it is silent.
 */
export async function beatWhileSeeing(
  watches: readonly Watching[],
  { beat }: Pick<Beating, 'beat'>,
  signal: AbortSignal,
  { everyMs, listedWithinMs, knownWithinMs }: BeatTimes = usual,
): Promise<void> {
  const pause = (ms: number): Promise<unknown> =>
    sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
  while (!signal.aborted) {
    const lists = Promise.all(watches.map((watch) => watch.list())).catch(() => undefined);
    const listed = await Promise.race([lists, pause(listedWithinMs).then(() => undefined)]);
    if (listed !== undefined) {
      await pause(knownWithinMs);
      const sees = watches.every((watch, index) => knowsAll(watch, listed[index]?.items ?? []));
      if (sees && !signal.aborted) beat();
    }
    await pause(everyMs);
  }
}

const knowsAll = (watch: Watching, items: readonly KubernetesObject[]): boolean =>
  items.every((item) => {
    const known = watch.known(item.metadata?.name ?? '', item.metadata?.namespace);
    return known !== undefined && versionOf(known) >= versionOf(item);
  });

/** Versions of one resource are numbers that grow (KEP-5504). */
const versionOf = ({ metadata }: KubernetesObject): bigint =>
  BigInt(metadata?.resourceVersion ?? '0');

type Data = Readonly<Record<string, unknown>>;

/** A state of an object: recorded where its value differs from the last one of that name. */
type State = readonly [name: ObservedName, node: string | undefined, value: unknown, data: Data];

/** Turns whole API objects into the changes that matter: each is recorded once, when it happens. */
class Changes {
  readonly #recorder: Recorder;
  /** By object and name of the state. */
  readonly #last = new Map<string, Map<string, string>>();

  constructor(recorder: Recorder) {
    this.#recorder = recorder;
  }

  note(object: string, states: readonly State[]): void {
    const last = this.#last.get(object) ?? new Map<string, string>();
    this.#last.set(object, last);
    for (const [name, node, value, data] of states) {
      const text = JSON.stringify(value) ?? '';
      if (last.get(name) === text) continue;
      last.set(name, text);
      this.record(name, node, data);
    }
  }

  /** One that is made again later is another object. */
  gone(object: string, name: ObservedName, node: string | undefined, data: Data): void {
    this.#last.delete(object);
    this.record(name, node, data);
  }

  record(name: ObservedName, node: string | undefined, data: Data): void {
    const where = node === undefined ? {} : { node };
    this.#recorder.record({ type: 'observation', source: 'api', name, ...where, data });
  }
}

const nameOf = ({ metadata }: KubernetesObject): string => metadata?.name ?? '?';
const uidOf = ({ metadata }: KubernetesObject): string => metadata?.uid ?? '?';

/** Of other nodes than its own a run needs only whether they are Ready, on which a zone's state depends. */
function statesOfNode(node: V1Node, isOwn: boolean): State[] {
  const { spec, status } = node;
  const name = nameOf(node);
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const readiness = { status: ready?.status, reason: ready?.reason };
  const taints = (spec?.taints ?? []).map(({ key, effect }) => `${key}:${effect}`).toSorted();
  const attached = (status?.volumesAttached ?? []).map((volume) => volume.name).toSorted();
  const inUse = (status?.volumesInUse ?? []).toSorted();
  const own: State[] = [
    [observed.nodeTaints, name, taints, { taints }],
    [observed.volumesAttached, name, attached, { volumes: attached }],
    [observed.volumesInUse, name, inUse, { volumes: inUse }],
  ];
  return [[observed.nodeReady, name, readiness, readiness], ...(isOwn ? own : [])];
}

function statesOfPod(pod: V1Pod): State[] {
  const { metadata, spec, status } = pod;
  const node = spec?.nodeName;
  const about = { pod: metadata?.name, uid: uidOf(pod) };
  const { phase, podIP: ip } = status ?? {};
  const states: State[] = [[observed.podCreated, node, true, about]];
  if (node !== undefined) states.push([observed.podScheduled, node, node, about]);
  states.push([observed.podPhase, node, phase, { ...about, phase }]);
  if (phase === 'Running' && ip !== undefined) {
    states.push([observed.podRunning, node, ip, { ...about, ip }]);
  }
  const ready = isReady(status);
  states.push([observed.podReady, node, ready, { ...about, ready }]);
  const disruption = status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
  if (disruption !== undefined) {
    const { reason, message } = disruption;
    states.push([observed.podDisruption, node, reason, { ...about, reason, message }]);
  }
  if (metadata?.deletionTimestamp !== undefined) {
    const { deletionGracePeriodSeconds: gracePeriodS, deletionTimestamp } = metadata;
    const deletionAt = timeOf(deletionTimestamp).toISOString();
    const data = { ...about, gracePeriodS, deletionAt, managers: managersOf(metadata) };
    states.push([observed.podTerminating, node, true, data]);
  }
  return states;
}

/** A watch hands on the API's text where a list has made a Date of it, whatever the types say. */
const timeOf = (time: Date | undefined): Date => new Date(time ?? 0);

/** Who wrote the object, newest first, as `manager/subresource`. */
const managersOf = (metadata: V1ObjectMeta | undefined): string[] =>
  (metadata?.managedFields ?? [])
    .toSorted((a, b) => Number(timeOf(b.time)) - Number(timeOf(a.time)))
    .map(({ manager, subresource }) => [manager, subresource].filter(Boolean).join('/'));

const aboutAttachment = ({ metadata, spec }: V1VolumeAttachment): Data => ({
  attachment: metadata?.name,
  volume: spec.source.persistentVolumeName,
});

function statesOfAttachment(attachment: V1VolumeAttachment): State[] {
  const { metadata, spec, status } = attachment;
  const happened: readonly (readonly [name: ObservedName, has: boolean])[] = [
    [observed.attachmentCreated, true],
    [observed.attachmentAttached, status?.attached === true],
    [observed.attachmentDeleting, metadata?.deletionTimestamp !== undefined],
  ];
  const about = aboutAttachment(attachment);
  const failed = (['attach', 'detach'] as const).flatMap((what): State[] => {
    const error = status?.[`${what}Error`]?.message;
    if (error === undefined) return [];
    return [[observed.attachmentFailed, spec.nodeName, error, { ...about, what, error }]];
  });
  return [
    ...happened.flatMap(([name, has]): State[] =>
      has ? [[name, spec.nodeName, true, about]] : [],
    ),
    ...failed,
  ];
}
