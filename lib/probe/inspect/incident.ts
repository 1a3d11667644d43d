/** From records to sightings: whose volume each is about, on which node, by which clock. What an older or a narrower log leaves out is computed where Kubernetes does so. */
import { createHash } from 'node:crypto';
import { type ObservedName, csiCalls, eventSeen, observed } from '../../history/index.ts';
import type { Place } from './files.ts';
import type { Kind, ReadObject } from './objects.ts';
import type { Collected, Dumped, ServerLine } from './read.ts';

/** One thing that a record shows. */
export interface Sighting {
  /** An observation, or what only an incident shows. */
  readonly name: ObservedName | 'attachment-changed' | 'boot';
  readonly source: string;
  readonly place: Place;
  /** Unix ms, by `clock`. It happened then or up to `roundMs` later. */
  readonly atMs: number;
  readonly roundMs: number;
  /** `api`, or a node; undefined: a host that is not known. */
  readonly clock: string | undefined;
  /** The API server knew of it by then, by its own clock. */
  readonly byMs?: number;
  readonly node?: string | undefined;
  /** PersistentVolume; undefined: about no volume, or about all on the node. */
  readonly volume?: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Volume {
  readonly name: string;
  /** `driver^handle`. */
  readonly handle: string | undefined;
  readonly driver: string | undefined;
  readonly claim: string | undefined;
  readonly storageClass: string | undefined;
  readonly accessModes: readonly string[];
}

/** A pod that some record names by its uid. */
interface KnownPod {
  readonly uid: string;
  name?: string | undefined;
  namespace?: string | undefined;
  node?: string;
  readonly volumes: Set<string>;
  /** When it was bound to its node, or created. */
  bornMs?: number;
}

/** A server’s process on a node, from one start to the next. */
export interface ServerLife {
  readonly node: string;
  readonly volumes: ReadonlySet<string>;
  readonly lines: readonly ServerLine[];
}

/** How far a node’s clock is behind the API server’s, ms; what bounds nothing is infinite. */
export interface Offset {
  readonly leastMs: number;
  readonly mostMs: number;
}

export interface Incident {
  readonly volumes: ReadonlyMap<string, Volume>;
  readonly nodes: ReadonlySet<string>;
  readonly sightings: readonly Sighting[];
  readonly servers: readonly ServerLife[];
  readonly offsets: ReadonlyMap<string, Offset>;
  /** Logs that no node could be found for. */
  readonly homeless: readonly string[];
  readonly objects: readonly Dumped[];
  readonly hasAudit: boolean;
  /** Volumes (`driver^handle`) that each Node had when it was dumped; undefined: none was. */
  readonly attachedLast: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  /** VolumeAttachments that were dumped. */
  readonly attachments: readonly Attachment[];
  /** Attachments on record of which none says the volume and the node; each where it is named first. */
  readonly unplaced: readonly { readonly attachment: string; readonly place: Place }[];
}

interface Attachment {
  readonly volume: string;
  readonly node: string;
  readonly createdMs: number;
  readonly isDeleting: boolean;
}

export const unbounded: Offset = { leastMs: -Infinity, mostMs: Infinity };

const timeOf = (time: string | undefined): number =>
  time === undefined ? Number.NaN : Date.parse(time);
/** Times of most objects have whole seconds, cut off. */
const second = 999;

export function incidentOf(found: Collected): Incident {
  const volumes = volumesOf(found);
  const nodes = nodesOf(found);
  const names = new Names(found, volumes, nodes);
  const pods = podsOf(found, volumes);
  const sightings = [
    ...found.requests.flatMap((request) => ofRequest(request, names, pods)),
    ...found.objects.flatMap((dumped) => ofObject(dumped, names, pods)),
    ...found.component.flatMap((line) => ofLine(line, names, pods, nodes)),
    ...found.boots.flatMap(({ atMs, place, host }): Sighting[] => {
      const node = hostOf(place.file, nodes, host);
      const base = { name: 'boot', source: 'kernel', roundMs: second, data: {} } as const;
      return node === undefined ? [] : [{ ...base, place, atMs, clock: node, node }];
    }),
  ];
  const { servers, homeless } = serversOf(found, nodes, pods);
  return {
    ...{ volumes, nodes, sightings, servers, homeless, objects: found.objects },
    offsets: offsetsOf(found.objects, nodes),
    hasAudit: found.requests.length > 0,
    attachedLast: attachedLast(found.objects),
    attachments: names.attachments,
    unplaced: unplacedOf(found, names),
  };
}

function unplacedOf({ requests, component }: Collected, names: Names): Incident['unplaced'] {
  const asked = requests
    .filter(({ data }) => data.resource === 'volumeattachments')
    .map(({ data, place }) => ({ attachment: data.object, place }));
  const unknown = [...asked, ...component].flatMap(({ attachment, place }) =>
    attachment === undefined || names.attachment(attachment) ? [] : [{ attachment, place }],
  );
  const byName = Map.groupBy(unknown, ({ attachment }) => attachment);
  return [...byName.values()].flatMap(([first = []]) => first);
}

const ofKind = (objects: readonly Dumped[], kind: Kind): Dumped[] =>
  objects.filter(({ object }) => object.kind === kind);

function volumesOf({ objects, component }: Collected): Map<string, Volume> {
  const found = new Map<string, Volume>();
  for (const { object } of ofKind(objects, 'PersistentVolume')) {
    const { metadata, spec } = object;
    const { csi, claimRef, accessModes = [], storageClassName: storageClass } = spec ?? {};
    found.set(metadata.name ?? '', {
      ...{ name: metadata.name ?? '', driver: csi?.driver, accessModes, storageClass },
      handle: csi === undefined ? undefined : `${csi.driver}^${csi.volumeHandle}`,
      claim: claimRef === undefined ? undefined : `${claimRef.namespace}/${claimRef.name}`,
    });
  }
  const add = (name: string, handle: string | undefined): void => {
    if (found.get(name)?.handle !== undefined) return;
    const driver = handle?.split('^')[0];
    found.set(name, {
      ...{ name, handle, driver, claim: undefined, storageClass: undefined, accessModes: [] },
      ...found.get(name),
      ...(handle === undefined ? {} : { handle, driver }),
    });
  };
  for (const { volume, handle } of component) if (volume !== undefined) add(volume, handle);
  // Lines of newer versions name a volume by its handle alone.
  const handles = new Set([...found.values()].map(({ handle }) => handle));
  for (const { handle } of component)
    if (handle !== undefined && !handles.has(handle)) add(handle, handle);
  for (const { object } of ofKind(objects, 'VolumeAttachment')) {
    const name = object.spec?.source?.persistentVolumeName;
    if (name !== undefined) add(name, undefined);
  }
  return found;
}

function nodesOf({ objects, requests, component }: Collected): Set<string> {
  const users = requests.map(({ data }) => /^system:node:(.+)/.exec(data.user)?.[1]);
  const scheduled = ofKind(objects, 'Event').map(({ object }) => assignedTo(object));
  const named = objects.flatMap(({ object }): (string | undefined)[] => {
    if (object.kind === 'Node') return [object.metadata.name];
    return [object.spec?.nodeName, object.source?.host];
  });
  const all = [...users, ...scheduled, ...named, ...component.map(({ node }) => node)];
  return new Set(all.filter((name): name is string => name !== undefined && name !== ''));
}

const assignedTo = (event: ReadObject): string | undefined =>
  event.reason === 'Scheduled' ? / to (\S+)$/.exec(event.message ?? '')?.[1] : undefined;

/** As pkg/volume/csi/csi_attacher.go getAttachmentName computes it, of `driver^handle`. */
export function attachmentName(handle: string, node: string): string {
  const at = handle.indexOf('^');
  const text = `${handle.slice(at + 1)}${handle.slice(0, at)}${node}`;
  return `csi-${createHash('sha256').update(text).digest('hex')}`;
}

/** Which volume and node an attachment’s name stands for. */
class Names {
  readonly attachments: readonly Attachment[];
  readonly #byName = new Map<string, { readonly volume: string; readonly node: string }>();
  readonly #volumes: ReadonlyMap<string, Volume>;
  readonly #byHandle: ReadonlyMap<string, string>;

  constructor(found: Collected, volumes: ReadonlyMap<string, Volume>, nodes: ReadonlySet<string>) {
    this.#volumes = volumes;
    this.#byHandle = new Map(
      [...volumes.values()].flatMap(({ name, handle }) =>
        handle === undefined ? [] : [[handle, name] as const],
      ),
    );
    for (const { name: volume, handle } of volumes.values())
      if (handle !== undefined)
        for (const node of nodes) this.#byName.set(attachmentName(handle, node), { volume, node });
    this.attachments = ofKind(found.objects, 'VolumeAttachment').flatMap(({ object }) => {
      const { metadata, spec } = object;
      const [volume, node] = [spec?.source?.persistentVolumeName, spec?.nodeName];
      if (volume === undefined || node === undefined) return [];
      this.#byName.set(metadata.name, { volume, node });
      const isDeleting = metadata.deletionTimestamp !== undefined;
      return [{ volume, node, isDeleting, createdMs: timeOf(metadata.creationTimestamp) }];
    });
    for (const { body, data } of found.requests) {
      const { metadata, spec } = (body ?? {}) as Partial<ReadObject>;
      const [volume, node] = [spec?.source?.persistentVolumeName, spec?.nodeName];
      if (volume !== undefined && node !== undefined)
        this.#byName.set(metadata?.name ?? String(data.object), { volume, node });
    }
  }

  attachment = (name: unknown): { readonly volume: string; readonly node: string } | undefined =>
    this.#byName.get(String(name));

  nameOf = (volume: string, node: string): string =>
    [...this.#byName].find(([, each]) => each.volume === volume && each.node === node)?.[0] ?? '?';

  volume = (name: string | undefined, handle?: string): string | undefined =>
    name !== undefined && this.#volumes.has(name) ? name : this.#byHandle.get(handle ?? '');
}

class Pods {
  readonly byUid = new Map<string, KnownPod>();

  of(uid: string): KnownPod {
    const known = this.byUid.get(uid) ?? { uid, volumes: new Set() };
    this.byUid.set(uid, known);
    return known;
  }

  /** A StatefulSet gives a pod’s claims to the next of its name. */
  volumesOf(uid: string): ReadonlySet<string> {
    const own = this.byUid.get(uid);
    if (own === undefined || own.volumes.size > 0 || own.name === undefined)
      return own?.volumes ?? new Set();
    const same = [...this.byUid.values()].find(
      (each) => each.volumes.size > 0 && each.name === own.name && each.namespace === own.namespace,
    );
    return same?.volumes ?? new Set();
  }
}

const named = /for volume "([^"]+)"/;

function podsOf({ objects, component }: Collected, volumes: ReadonlyMap<string, Volume>): Pods {
  const pods = new Pods();
  const byClaim = new Map([...volumes.values()].map(({ claim, name }) => [claim, name]));
  for (const { object } of ofKind(objects, 'PersistentVolumeClaim')) {
    const { metadata, spec } = object;
    if (spec?.volumeName !== undefined)
      byClaim.set(`${metadata.namespace}/${metadata.name}`, spec.volumeName);
  }
  for (const { object } of ofKind(objects, 'Pod')) {
    const pod = pods.of(object.metadata.uid ?? '');
    pod.name = object.metadata.name ?? '';
    pod.namespace = object.metadata.namespace ?? '';
    pod.bornMs = timeOf(object.metadata.creationTimestamp);
    if (object.spec?.nodeName !== undefined) pod.node = object.spec.nodeName;
    for (const { persistentVolumeClaim: claim } of object.spec?.volumes ?? []) {
      const volume = claim && byClaim.get(`${pod.namespace}/${claim.claimName}`);
      if (volume !== undefined) pod.volumes.add(volume);
    }
  }
  for (const { object } of ofKind(objects, 'Event')) {
    const { kind, uid, name, namespace } = object.involvedObject ?? {};
    if (kind !== 'Pod' || uid === undefined) continue;
    const pod = pods.of(uid);
    pod.name ??= name;
    pod.namespace ??= namespace;
    const node = assignedTo(object);
    if (node !== undefined) Object.assign(pod, { node, bornMs: firstOf(object) });
    const volume =
      /AttachVolume/.test(object.reason ?? '') && named.exec(object.message ?? '')?.[1];
    if (volume) pod.volumes.add(volume);
  }
  for (const { is, pod: uid, volume } of component)
    if (uid !== undefined && volume !== undefined && is !== 'attach-done')
      pods.of(uid).volumes.add(volume);
  return pods;
}

// Sightings, by the kind of record.

type Request = Collected['requests'][number];

const attachDetach = /:(attachdetach-controller|kube-controller-manager)$/;

function ofRequest(request: Request, names: Names, pods: Pods): Sighting[] {
  const { data, wallMs: atMs, place, node, namespace } = request;
  const { verb, resource, object = '?', code = 200, gracePeriodS, uid: asked, taints } = data;
  const base = { source: 'audit', place, atMs, roundMs: 0, clock: 'api' };
  if (code >= 300) return [];
  const of = names.attachment(object);
  const made = (name: Sighting['name'] | undefined, more: Partial<Sighting> = {}): Sighting[] => [
    { ...base, name: observed.apiRequest, node, volume: of?.volume, data: { ...data } },
    ...(name === undefined ? [] : [{ ...base, name, data: {}, ...more }]),
  ];
  if (resource === 'volumeattachments') {
    if (of === undefined) return made(undefined);
    // The attacher takes its finalizer away once the driver has answered.
    const byAttacher = data.agent?.includes('attacher') === true && !attachDetach.test(data.user);
    const about = { ...of, data: { attachment: object, volume: of.volume, byAttacher } };
    if (verb === 'create') return made(observed.attachmentCreated, about);
    if (verb === 'delete') return made(observed.attachmentDeleting, about);
    return made(verb === 'patch' || verb === 'update' ? 'attachment-changed' : undefined, about);
  }
  if (resource === 'nodes' && verb === 'delete') return made(observed.nodeGone, { node: object });
  if (resource === 'nodes' && taints !== undefined)
    return made(observed.nodeTaints, { node: object, data: { taints: taintsIn(request.body) } });
  if (resource !== 'pods' || verb !== 'delete') return made(undefined);
  const uid = asked ?? podBefore(pods, namespace, object, atMs) ?? '?';
  const [volume] = pods.volumesOf(uid);
  const about = { node: pods.byUid.get(uid)?.node, data: { pod: object, uid, gracePeriodS } };
  const name = gracePeriodS === 0 ? observed.podGone : observed.podTerminating;
  return made(name, { ...about, volume });
}

/** A patch may be a list of operations or a part of the object. */
const taintsIn = (body: unknown): string[] =>
  [...(JSON.stringify(body) ?? '').matchAll(/\{[^{}]*"key":"([^"]+)"[^{}]*\}/g)].map(
    ([taint, key]) => `${key}:${/"effect":"(\w+)"/.exec(taint)?.[1] ?? ''}`,
  );

/** The newest pod of that name by then. */
const podBefore = (pods: Pods, space: unknown, name: unknown, atMs: number): string | undefined =>
  [...pods.byUid.values()]
    .filter((each) => each.name === name && each.namespace === space)
    .filter(({ bornMs = Infinity }) => bornMs + second < atMs)
    .toSorted((x, y) => (y.bornMs ?? 0) - (x.bornMs ?? 0))[0]?.uid;

/** A container starts once all volumes of its pod are mounted. */
const startsContainers = new Set(['Pulled', 'Created', 'Started']);

function ofObject({ object, place }: Dumped, names: Names, pods: Pods): Sighting[] {
  const created = timeOf(object.metadata.creationTimestamp);
  const base = { place, roundMs: second, clock: 'api', source: 'api' };
  if (object.kind === 'VolumeAttachment') {
    const of = names.attachment(object.metadata.name);
    const data = { attachment: object.metadata.name, volume: of?.volume };
    return of === undefined
      ? []
      : [{ ...base, ...of, name: observed.attachmentCreated, atMs: created, data }];
  }
  if (object.kind === 'Node') return ofNode(object, base);
  if (object.kind === 'Pod') return ofPod(object, base, pods);
  return object.kind === 'Event' ? ofEvent(object, place, names, pods) : [];
}

type Base = Pick<Sighting, 'place' | 'roundMs' | 'clock' | 'source'>;

function ofNode({ metadata, spec, status }: ReadObject, base: Base): Sighting[] {
  const about = { ...base, node: metadata.name };
  const ready = (status?.conditions ?? []).filter(({ type }) => type === 'Ready');
  const taints = (spec?.taints ?? []).filter(({ timeAdded }) => timeAdded !== undefined);
  return [
    ...ready.map(({ status: is, reason, lastTransitionTime }) => ({
      ...{ ...about, name: observed.nodeReady, atMs: timeOf(lastTransitionTime) },
      data: { status: is, reason },
    })),
    ...taints.map(({ key, effect, timeAdded }) => ({
      ...{ ...about, name: observed.nodeTaints, atMs: timeOf(timeAdded) },
      data: { taints: [`${key}:${effect}`] },
    })),
  ];
}

function ofPod({ metadata, spec, status }: ReadObject, base: Base, pods: Pods): Sighting[] {
  const { uid = '', name: pod, creationTimestamp, deletionTimestamp } = metadata;
  const [volume] = pods.volumesOf(uid);
  const about = { ...base, node: spec?.nodeName, volume, data: { pod, uid } };
  const bound = (status?.conditions ?? []).find(({ type }) => type === 'PodScheduled');
  const graceMs = 1000 * (metadata.deletionGracePeriodSeconds ?? 0);
  const started = (status?.containerStatuses ?? []).flatMap(({ state, lastState }) => [
    timeOf(state?.running?.startedAt),
    timeOf(lastState?.terminated?.startedAt),
  ]);
  return [
    { ...about, name: observed.podCreated, atMs: timeOf(creationTimestamp) },
    ...(bound?.status === 'True'
      ? [{ ...about, name: observed.podScheduled, atMs: timeOf(bound.lastTransitionTime) }]
      : []),
    { ...about, name: observed.podTerminating, atMs: timeOf(deletionTimestamp) - graceMs },
    ...started.map((atMs) => ({ ...about, name: observed.mounted, clock: spec?.nodeName, atMs })),
  ].filter(({ atMs }) => !Number.isNaN(atMs));
}

/** When its source first reported it, by that source’s clock. */
const firstOf = (event: ReadObject): number =>
  timeOf(event.firstTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp);

function ofEvent(object: ReadObject, place: Place, names: Names, pods: Pods): Sighting[] {
  const { involvedObject: { kind, name: about, uid = '?' } = {}, reason = '' } = object;
  const { message = '' } = object;
  const { node: seenOn, isKubelet } = reporterOf(object);
  const base = {
    ...{ source: 'events', place, atMs: firstOf(object), roundMs: second },
    byMs: timeOf(object.metadata.creationTimestamp) + second,
    clock: isKubelet ? seenOn : 'api',
  };
  const lost = { ...base, name: observed.nodeReady, data: { status: 'Unknown', reason } };
  if (kind === 'Node' && reason === 'NodeNotReady' && !isKubelet) return [{ ...lost, node: about }];
  if (kind === 'Node' && reason === 'Rebooted')
    return [{ ...base, name: 'boot', source: 'kernel', node: about, data: {} }];
  if (kind !== 'Pod') return [];
  const node = pods.byUid.get(uid)?.node;
  const [volume] = pods.volumesOf(uid);
  const data = { pod: about, uid };
  const ofIts = { ...base, node, volume, data };
  if (reason === 'Scheduled') return [{ ...ofIts, name: observed.podScheduled }];
  if (reason === 'NodeNotReady') return [{ ...lost, node }];
  if (reason === 'TaintManagerEviction') return [{ ...ofIts, name: observed.podTerminating }];
  if (reason === 'SuccessfulAttachVolume' && node !== undefined) {
    const which = named.exec(message)?.[1];
    const attachment = which === undefined ? '?' : names.nameOf(which, node);
    const attached = { volume: which, data: { attachment, volume: which } };
    return [{ ...base, node, name: observed.attachmentAttached, ...attached }];
  }
  if (!isKubelet || !startsContainers.has(reason) || seenOn === undefined) return [];
  return [...pods.volumesOf(uid)].flatMap((each): Sighting[] => {
    const on = { ...base, node: seenOn, volume: each };
    return [
      { ...on, name: observed.mounted, data: { device: '?', reason, ...data } },
      { ...on, name: observed.podRunning, data: { ip: '?', ...data } },
    ];
  });
}

const reporterOf = (
  event: ReadObject,
): { readonly node: string | undefined; readonly isKubelet: boolean } => {
  const { node, data } = eventSeen({ ...event, involvedObject: event.involvedObject ?? {} });
  return { node, isKubelet: data.from === 'kubelet' };
};

function ofLine(
  line: Collected['component'][number],
  names: Names,
  pods: Pods,
  nodes: ReadonlySet<string>,
): Sighting[] {
  const { is, atMs, place, text, host, attachment = '?' } = line;
  const volume = names.volume(line.volume, line.handle);
  const base = { place, atMs, roundMs: 0, volume, clock: undefined };
  const manager = { ...base, source: 'controller-manager', node: line.node };
  const own = { attachment, volume, line: text };
  if (is === 'force-detach-log' || is === 'leader-acquired')
    return [{ ...manager, name: is, data: { line: text } }];
  if (is === 'attach-done') return [{ ...manager, name: observed.attachmentAttached, data: own }];
  if (is === 'detach-done') return [{ ...manager, name: observed.attachmentGone, data: own }];
  if (is === 'driver-attached' || is === 'driver-detached') {
    const about = names.attachment(attachment);
    const call = is === 'driver-attached' ? csiCalls.publish : csiCalls.unpublish;
    const answered = { name: observed.csiCall, source: 'attacher' };
    const data = { call, durationMs: 0, line: text };
    return about === undefined ? [] : [{ ...base, ...about, ...answered, data }];
  }
  const node = line.node ?? hostOf(place.file, nodes, host) ?? pods.byUid.get(line.pod ?? '')?.node;
  const kubelet = { ...base, source: 'kubelet', clock: node, node };
  const name = is === 'device-unmounted' ? observed.unmounted : observed.mounted;
  return [{ ...kubelet, name, data: { device: '?', line: text } }];
}

// Where a log was written.

/** The node that the journal, or a part of the file’s path, names. */
function hostOf(file: string, nodes: ReadonlySet<string>, journal?: string): string | undefined {
  if (journal !== undefined && nodes.has(journal)) return journal;
  const there = [...nodes].filter((node) => {
    const at = file.indexOf(node);
    return (
      at >= 0 && !/[\w-]/.test(file[at + node.length] ?? '') && !/[\w-]/.test(file[at - 1] ?? '')
    );
  });
  return there.toSorted((a, b) => b.length - a.length)[0];
}

function serversOf({ server }: Collected, nodes: ReadonlySet<string>, pods: Pods) {
  const homeless: string[] = [];
  const servers: ServerLife[] = [];
  for (const lines of Map.groupBy(server, ({ stream }) => stream).values()) {
    const { place: { file } = { file: '' }, host } = lines[0] ?? {};
    const all = [...pods.byUid.values()];
    const pod = all.find(({ uid }) => file.includes(uid));
    const node = pod?.node ?? hostOf(file, nodes, host);
    // Without the pod’s uid in its path it is a log of whatever pod of that node has such a name in the path.
    const there = all.filter(({ node: on, name = '\0' }) => on === node && file.includes(name));
    const own = (pod === undefined ? there : [pod]).flatMap(({ uid }) => [...pods.volumesOf(uid)]);
    const inOrder = lines.toSorted((a, b) => a.atMs - b.atMs);
    if (node === undefined) homeless.push(file);
    else servers.push({ node, volumes: new Set(own), lines: inOrder });
  }
  return { servers, homeless };
}

// Clocks.

/**
 * From events: a kubelet acts on a pod after it was bound, and the API server creates an event after the
 * kubelet has reported it.
 */
function offsetsOf(objects: readonly Dumped[], nodes: ReadonlySet<string>): Map<string, Offset> {
  const events = ofKind(objects, 'Event').map(({ object }) => object);
  const boundMs = new Map<string, number>();
  for (const { object } of ofKind(objects, 'Pod'))
    boundMs.set(object.metadata.uid ?? '', timeOf(object.metadata.creationTimestamp));
  for (const event of events)
    if (event.reason === 'Scheduled') boundMs.set(event.involvedObject?.uid ?? '', firstOf(event));
  const byNode = Map.groupBy(
    events.filter((event) => reporterOf(event).isKubelet && !Number.isNaN(firstOf(event))),
    (event) => reporterOf(event).node,
  );
  return new Map(
    [...nodes].map((node): [string, Offset] => {
      const own = byNode.get(node) ?? [];
      const least = own.flatMap((event) => {
        const bound = boundMs.get(event.involvedObject?.uid ?? '?');
        return bound === undefined ? [] : [bound - firstOf(event) - second];
      });
      const most = own.map(
        (event) => timeOf(event.metadata.creationTimestamp) + second - firstOf(event),
      );
      const [leastMs, mostMs] = [Math.max(-Infinity, ...least), Math.min(Infinity, ...most)];
      // Bounds that contradict each other are none: the clock was set meanwhile.
      return [node, leastMs > mostMs ? unbounded : { leastMs, mostMs }];
    }),
  );
}

// Who had which volume in the end.

function attachedLast(objects: readonly Dumped[]): Incident['attachedLast'] {
  const dumped = ofKind(objects, 'Node').map(({ object }) => object);
  // Without a status it is no dump of what runs.
  if (!dumped.some(({ status }) => (status?.conditions ?? []).length > 0)) return undefined;
  return new Map(
    dumped.map(({ metadata, status }) => {
      const attached = (status?.volumesAttached ?? []).map(({ name }) => name);
      const all = [...attached, ...(status?.volumesInUse ?? [])];
      return [metadata.name, new Set(all.map((name) => name.replace('kubernetes.io/csi/', '')))];
    }),
  );
}
