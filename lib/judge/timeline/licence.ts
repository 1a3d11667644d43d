/** The causal chain: the recorded decisions that let the second writer in. */
import {
  type ObservationRecord,
  csiCalls,
  isGranted,
  isRefused,
  observed,
} from '../../history/index.ts';
import {
  type Access,
  type Passage,
  type SecondMount,
  accessesOf,
  isMounted,
  passageOf,
  refusedMountOf,
  secondMountsOf,
} from './access.ts';
import { type MilestoneName, type Story, milestones } from './story.ts';
import type { Licence, LicenceStep } from '../verdict/verdict.ts';
import { isDirectory, losesPower } from '../../scenario/index.ts';

export const forceReasons = ['timeout', 'out-of-service'] as const;
export type ForceReason = (typeof forceReasons)[number];

/** A detach that the driver granted. */
export interface Detach {
  readonly node: string;
  readonly atMs: number;
  /** The node had the volume mounted, and was not a machine without power. */
  readonly wasMounted: boolean;
  /** By which reason the controller manager's log calls it forced; undefined where it does not. */
  readonly logged: ForceReason | undefined;
}

export interface ForcedDetaches {
  readonly detaches: readonly Detach[];
  /** Lines of the log since the fault, by reason. */
  readonly logged: Readonly<Record<ForceReason, number>>;
  /** By how much the counter grew since the fault; undefined where it was not read. */
  readonly counted: Readonly<Record<ForceReason, number>> | undefined;
  /** How often the controller manager began anew since the fault. */
  readonly restarts: number;
}

/** The line comes right before the VolumeAttachment is deleted. */
const beforeDetachMs = 15_000;
/** One start leaves several lines. */
const sameStartMs = 2_000;

export function forcedDetachesOf(story: Story): ForcedDetaches {
  const { observations, faultAtMs = Number.POSITIVE_INFINITY } = story;
  const since = observations.filter(({ t }) => t >= faultAtMs);
  const lines = since.filter(({ name }) => name === observed.forceDetachLog);
  const logged = (reason: ForceReason): number =>
    lines.filter((line) => reasonIn(line) === reason).length;
  return {
    detaches: since.filter(isDetach).map((call) => detachOf(call, lines, story)),
    logged: { timeout: logged('timeout'), 'out-of-service': logged('out-of-service') },
    counted: countedSince(observations, faultAtMs),
    restarts: startsIn(since),
  };
}

const reasonIn = ({ data }: ObservationRecord): ForceReason =>
  String(data.line).includes('out-of-service') ? 'out-of-service' : 'timeout';

const isDetach = (seen: ObservationRecord): boolean =>
  seen.node !== undefined && isGranted(csiCalls.unpublish)(seen);

function detachOf(
  { node = '', t }: ObservationRecord,
  lines: readonly ObservationRecord[],
  story: Story,
): Detach {
  const line = lines.findLast(
    (each) => each.t <= t && each.t >= t - beforeDetachMs && namesNode(each, node),
  );
  return {
    node,
    atMs: t,
    wasMounted: isMounted(story.observations, node, t) && !isOff(node, t, story),
    logged: line === undefined ? undefined : reasonIn(line),
  };
}

/** kind: `node="a"`; a line without a node's name is taken for the only one. */
const namesNode = ({ node, data }: ObservationRecord, wanted: string): boolean =>
  node === wanted ||
  !String(data.line).includes('node=') ||
  String(data.line).includes(`node="${wanted}"`);

const isOff = (
  node: string,
  atMs: number,
  { scenario, victimNode, faultDoneAtMs }: Story,
): boolean =>
  node === victimNode &&
  losesPower(scenario.fault.kind) &&
  faultDoneAtMs !== undefined &&
  atMs >= faultDoneAtMs;

/** A counter that shrinks began anew: what it shows then was counted since. */
function countedSince(
  observations: readonly ObservationRecord[],
  faultAtMs: number,
): ForcedDetaches['counted'] {
  const readings = observations.filter(({ name }) => name === observed.forceDetachMetric);
  const before = readings.findLast(({ t }) => t < faultAtMs);
  const after = readings.filter(({ t }) => t >= faultAtMs);
  // Older histories have one reading, at the end, of a counter that a kept cluster began with.
  if (before === undefined || after.length === 0) return undefined;
  const grown = (reason: ForceReason): number => {
    let sum = 0;
    let last = Number(before.data[reason]);
    for (const { data } of after) {
      const now = Number(data[reason]);
      sum += now >= last ? now - last : now;
      last = now;
    }
    return sum;
  };
  return { timeout: grown('timeout'), 'out-of-service': grown('out-of-service') };
}

function startsIn(since: readonly ObservationRecord[]): number {
  const starts = since.filter(({ name }) => name === observed.leaderAcquired);
  return starts.filter(({ t }, at) => t - (starts[at - 1]?.t ?? -Infinity) > sameStartMs).length;
}

// Who asked for a link of a licence, in plain words, as far as a record tells.

function asked(wanted: Wanted, seen: ObservationRecord, passage: Passage): string | undefined {
  const { story, mount } = passage;
  const request = requestFor(story, wanted, mount.sinceMs, seen.t);
  return request === undefined ? undefined : told(request, requester(request, story));
}

function told({ data }: ObservationRecord, who: string): string {
  const { gracePeriodS, agent } = data;
  const grace = gracePeriodS === undefined ? '' : `, grace period ${gracePeriodS} s`;
  // A client's program is the part before the version.
  const program = typeof agent === 'string' ? `, by ${agent.split('/')[0]}` : '';
  return `${who}${grace}${program}`;
}

export function whoDeleted(seen: ObservationRecord, passage: Passage): string | undefined {
  const object = String(seen.data.pod);
  const pods = { verbs: ['delete', 'deletecollection', 'create'], object };
  return asked({ ...pods, resources: ['pods', 'pods/eviction'], fits: isEnd }, seen, passage);
}

/** A pod's creation is no request to remove it. */
const isEnd = ({ verb, resource }: ObservationRecord['data']): boolean =>
  verb !== 'create' || resource === 'pods/eviction';

/** kubelet, controllers and people end a pod alike; without an audit log its condition may tell. */
export function whoRemoved(seen: ObservationRecord, passage: Passage): string | undefined {
  const { story, mount } = passage;
  const disruption = story.observations.findLast(
    ({ name, t, data }) =>
      name === observed.podDisruption && data.uid === mount.podUid && t <= seen.t,
  );
  const isCollected = disruption?.data.reason === 'DeletionByPodGC';
  return (
    whoDeleted(seen, passage) ??
    (isCollected ? 'the pod garbage collector' : remedyOf(seen, passage))
  );
}

export function remedyOf({ t }: ObservationRecord, { story }: Passage): string | undefined {
  const remedy = remedyAt(story, t);
  return remedy === undefined ? undefined : `the operator (remedy ${remedy})`;
}

export function whoDeletedNode(seen: ObservationRecord, passage: Passage): string | undefined {
  const wanted = { verbs: ['delete'], resources: ['nodes'], object: passage.mount.from };
  return asked(wanted, seen, passage) ?? remedyOf(seen, passage);
}

export const whoTainted =
  (key: string) =>
  (seen: ObservationRecord, passage: Passage): string | undefined =>
    asked(
      {
        verbs: ['patch', 'update'],
        resources: ['nodes'],
        object: passage.mount.from,
        fits: ({ taints }) => JSON.stringify(taints ?? []).includes(key),
      },
      seen,
      passage,
    );

export const whoDetached = (seen: ObservationRecord, passage: Passage): string | undefined =>
  asked(
    {
      verbs: ['delete', 'deletecollection'],
      resources: ['volumeattachments'],
      object: String(seen.data.attachment),
    },
    seen,
    passage,
  );

/** What a change must be to be the one that is meant. */
interface Wanted {
  readonly verbs: readonly string[];
  readonly resources: readonly string[];
  /** Name of the object. */
  readonly object: string;
  readonly fits?: (data: ObservationRecord['data']) => boolean;
}

/** A remedy's own request may come in this much before or after what the run wrote of it. */
const slackMs = 1000;
/** Requests are stamped to the millisecond of another clock. */
const stampMs = 20;

export const hasAudit = ({ observations }: Story): boolean =>
  observations.some(({ name }) => name === observed.apiRequest);

/** The last such request that was granted, from `sinceMs` until the change was seen. */
export const requestFor = (
  { observations }: Story,
  wanted: Wanted,
  sinceMs: number,
  seenMs: number,
): ObservationRecord | undefined =>
  observations.findLast(({ name, t, data }) => {
    if (name !== observed.apiRequest || t < sinceMs - slackMs || t > seenMs + stampMs) return false;
    const { verb, resource, object, code } = data;
    return (
      wanted.verbs.includes(verb) &&
      wanted.resources.includes(resource) &&
      object === wanted.object &&
      Number(code) < 300 &&
      wanted.fits?.(data) !== false
    );
  });

/** Service accounts of kube-system, pkg/controlplane/controller and kubeadm's own. */
const controllers: Readonly<Record<string, string>> = {
  'pod-garbage-collector': 'the pod garbage collector',
  'taint-eviction-controller': 'the taint eviction controller',
  'node-controller': 'the node lifecycle controller',
  'attachdetach-controller': 'the attach/detach controller',
  'statefulset-controller': 'the StatefulSet controller',
  'replicaset-controller': 'the ReplicaSet controller',
};
const kubeSystem = 'system:serviceaccount:kube-system:';
const kubelet = 'system:node:';

/** In plain words; the user's own name stands behind it. */
function requester(request: ObservationRecord, story: Story): string {
  const user = String(request.data.user);
  if (user.startsWith(kubelet)) return `the kubelet of ${user.slice(kubelet.length)}`;
  if (user.startsWith(kubeSystem)) {
    const account = user.slice(kubeSystem.length);
    // It lends its account to the taint eviction controller (newTaintEvictionController).
    if (account === 'node-controller' && request.data.resource === 'pods') {
      return 'the taint eviction controller';
    }
    return controllers[account] ?? `the service account ${account}`;
  }
  if (user.startsWith('system:serviceaccount:')) {
    return `the service account ${user.split(':').at(-1) ?? user}`;
  }
  const remedy = remedyAt(story, request.t);
  return remedy === undefined ? `${user}, who is no controller` : `the operator (remedy ${remedy})`;
}

/** The remedy that was being applied at that moment. */
function remedyAt({ records }: Story, atMs: number): string | undefined {
  const actions = records.filter((record) => record.type === 'action');
  const begun = actions.findLast(
    ({ actor, step, t }) => actor === 'remedy' && step === 'begin' && t <= atMs + slackMs,
  );
  if (begun === undefined) return undefined;
  const done = actions.find(
    ({ actor, name, step, t }) =>
      actor === 'remedy' && name === begun.name && step === 'done' && t >= begun.t,
  );
  return done === undefined || atMs <= done.t + slackMs ? begun.name : undefined;
}

// The links of a licence in the order in which Kubernetes takes these decisions: which record proves each,
// who asked for it, and when its absence is a gap.

export interface CausalLink {
  readonly step: string;
  readonly fits: (seen: ObservationRecord, passage: Passage) => boolean;
  /** Who asked for it, in plain words; undefined where no record tells. */
  readonly by?: (seen: ObservationRecord, passage: Passage) => string | undefined;
  /** Whether it may come after the mount, as the pod's own mount does. Default false. */
  readonly mayFollow?: boolean;
}

/** Steps that answer what an experiment asks. */
export const ownSteps = {
  newManager: 'another controller manager took over, and its waits started again',
  uncertain:
    'the storage refused the detach: the attachment was uncertain and kept no other node out',
} as const;

type Fits = CausalLink['fits'];

/** The run's own, of this passage: who had the volume is the victim, who got it the successor. */
const is =
  (name: MilestoneName): Fits =>
  (seen, { roles }) =>
    milestones[name].is(seen, roles);
const all =
  (...each: readonly Fits[]): Fits =>
  (seen, passage) =>
    each.every((fits) => fits(seen, passage));

const onOld: Fits = (seen, { roles }) => roles.victim.onNode(seen);
const isOldCut = all(onOld, ({ name }) => name === observed.deviceCut);
/** The harness plays the loss of power by cutting the device: no storage did that. */
const isOfCrash: Fits = ({ t }, { story: { scenario, faultDoneAtMs = Infinity } }) =>
  losesPower(scenario.fault.kind) && t <= faultDoneAtMs;
/** No milestone: an operator sets it, no controller. */
const isOutOfService: Fits = ({ name, data }) =>
  name === observed.nodeTaints && JSON.stringify(data.taints).includes('out-of-service');
const isDetachStep: Fits = (seen, passage) =>
  is('detach-asked')(seen, passage) || is('detached')(seen, passage);
/** The controller manager's line says why it did not wait (reconciler.go, reconcile). */
const forced = (why: string): Fits =>
  all(is('force-detach'), ({ data }) => String(data.line).includes(why));
/** Declared ReadWriteMany, the second attachment waits for nothing. */
const forMany: Fits = (_, { story }) => story.scenario.volume.accessMode === 'ReadWriteMany';
const isShared: Fits = (_, { story }) => isDirectory(story.scenario.disk.mode);
const notDetachedYet: Fits = ({ t: atMs }, passage) =>
  !passage.story.observations.some((each) => each.t <= atMs && is('detached')(each, passage));
const neverGranted: Fits = (_, passage) => {
  const { story, mount } = passage;
  return !story.observations.some(
    (each) =>
      each.t <= mount.atMs && each.t >= mount.sinceMs && is('detach-answered')(each, passage),
  );
};

const link = (step: string, fits: Fits, by?: CausalLink['by']): CausalLink => ({
  ...{ step, fits },
  ...(by === undefined ? {} : { by }),
});

/** Each by its name, which says what its absence means (the end of this file). */
export const links = {
  notReady: link('the node was declared unreachable', is('not-ready')),
  tainted: link(
    'it was tainted unreachable:NoExecute',
    is('no-execute'),
    whoTainted('unreachable'),
  ),
  evicted: link('the pod was evicted (it is Terminating)', is('evicted'), whoDeleted),
  outOfService: link(
    'the node was tainted out-of-service',
    all(onOld, isOutOfService),
    (seen, passage) => whoTainted('out-of-service')(seen, passage) ?? remedyOf(seen, passage),
  ),
  nodeGone: link('the Node object was deleted', is('node-gone'), whoDeletedNode),
  podGone: link('the pod object was gone', is('pod-gone'), whoRemoved),
  bound: link('another pod was bound to the successor’s node', is('bound')),
  unmounted: link('the old node no longer had the volume mounted', is('unmounted')),
  controllerAnew: link(ownSteps.newManager, ({ name }) => name === observed.leaderAcquired),
  powerLost: link('the crash took the old node’s storage path away', all(isOldCut, isOfCrash)),
  cutOff: link(
    'the storage cut the old node off',
    all(isOldCut, (seen, passage) => !isOfCrash(seen, passage)),
  ),
  waitOver: link(
    'the attach/detach controller gave up waiting for the unmount',
    forced('maxWaitForUnmountDuration expired'),
  ),
  taintTaken: link(
    'the attach/detach controller did not wait for the unmount, because of the taint',
    forced('out-of-service'),
  ),
  detached: link('the VolumeAttachment was deleted', isDetachStep, whoDetached),
  detachRefused: link(ownSteps.uncertain, all(isRefused(csiCalls.unpublish), onOld, neverGranted)),
  unpublished: link('the driver answered the detach', is('detach-answered')),
  published: link('the driver attached the volume to another node', is('attach-answered')),
  attachedTwice: link(
    'the volume, declared ReadWriteMany, was attached a second time before the detach',
    all(is('attached'), forMany, notDetachedYet),
  ),
  staged: link('the successor staged the volume', is('staged')),
  mountRefused: link(
    'the successor had the volume, and its mount was refused',
    is('stage-refused'),
  ),
  sharedOut: link(
    'the successor got the shared directory, which needs no attach',
    all(isShared, is('pod-mounted')),
  ),
  mounted: link(
    'the volume was mounted a second time',
    (seen, { mount }) => seen === mount.seen && mount.isRefused !== true,
  ),
  nodePublished: {
    step: 'the successor’s pod got the mount',
    fits: all(is('pod-mounted'), (seen, passage) => !isShared(seen, passage)),
    mayFollow: true,
  },
} satisfies Readonly<Record<string, CausalLink>>;
export type LinkName = keyof typeof links;

// What a licence lacks: links without which no volume passes, and whose records are missing.

interface NeededLinks {
  /** One of them is enough. */
  readonly anyOf: readonly LinkName[];
  readonly gap: string;
  /** Default: always. */
  readonly when?: (passage: Passage) => boolean;
}

/** Nothing attaches or detaches a shared directory. */
const isAttached = ({ story }: Passage): boolean => !isDirectory(story.scenario.disk.mode);
/** Declared ReadWriteMany, a volume is attached elsewhere without a detach. */
const isDetachedFirst = (passage: Passage): boolean =>
  isAttached(passage) && passage.story.scenario.volume.accessMode !== 'ReadWriteMany';
const isStateful = ({ story }: Passage): boolean =>
  story.scenario.workload.kind.startsWith('stateful-set');

/** The volume came, and was not mounted. */
const wasMounted = ({ mount }: Passage): boolean => mount.isRefused !== true;

const needs: readonly NeededLinks[] = [
  {
    anyOf: ['podGone'],
    gap: 'no record shows when the old pod was removed',
    when: isStateful,
  },
  {
    anyOf: ['podGone', 'evicted', 'notReady'],
    gap: 'no record shows what became of the old pod',
    when: (passage) => !isStateful(passage),
  },
  {
    anyOf: ['unmounted', 'waitOver', 'taintTaken', 'detachRefused'],
    gap: 'no record shows why the detach did not wait for the unmount',
    when: (passage) => isDetachedFirst(passage) && !deletedByHand(passage),
  },
  {
    anyOf: ['detached'],
    gap: 'no record of a deleted VolumeAttachment',
    when: isDetachedFirst,
  },
  {
    anyOf: ['unpublished', 'detachRefused'],
    gap: 'no record of a ControllerUnpublishVolume',
    when: isDetachedFirst,
  },
  { anyOf: ['published'], gap: 'no record of a ControllerPublishVolume', when: isAttached },
  {
    anyOf: ['staged'],
    gap: 'no record of a NodeStageVolume',
    when: (passage) => isAttached(passage) && wasMounted(passage),
  },
  {
    anyOf: ['nodePublished', 'sharedOut'],
    gap: 'no record of a NodePublishVolume',
    when: wasMounted,
  },
];

/** Then nobody had to wait: the attach/detach controller takes a missing attachment for a detach. */
function deletedByHand({ story, mount }: Passage): boolean {
  if (!hasAudit(story)) return story.remedy?.name.includes('attachment') === true;
  return story.observations.some(({ name, t, data }) => {
    if (name !== observed.attachmentDeleting || t < mount.sinceMs || t > mount.atMs) return false;
    const object = data.attachment;
    const wanted = { verbs: ['delete'], resources: ['volumeattachments'], object };
    const request = requestFor(story, wanted, mount.sinceMs, t);
    return request !== undefined && !String(request.data.user).includes('attachdetach');
  });
}

export const gapsInChain = (proven: ReadonlySet<LinkName>, passage: Passage): string[] =>
  needs
    .filter(({ when }) => when?.(passage) !== false)
    .filter(({ anyOf }) => !anyOf.some((name) => proven.has(name)))
    .map(({ gap }) => gap);

// The licence: the chain of recorded decisions that let a second node mount the volume. Each link is tied to
// the record that proves it; a link that must be there and is not is a gap, and is said.

/** The pod's own mount follows the volume's by less than this. */
const followMs = 30_000;

export interface Licences {
  /**
   * Licence of the first second mount; where none came before the heal, of the first that was refused, or
   * undefined.
   */
  readonly first: Licence | undefined;
  /** Those of every other one: back to the old node, or after the heal. */
  readonly later: readonly Licence[];
}

/** `accesses`: who could write, when; by default as the observers of mounts saw it. */
export function licencesOf(
  story: Story,
  accesses: readonly Access[] = accessesOf(story),
): Licences {
  const { faultAtMs } = story;
  if (faultAtMs === undefined) return { first: undefined, later: [] };
  const [first, ...rest] = secondMountsOf(story, accesses);
  const told = (mounts: readonly SecondMount[]): Licence[] =>
    mounts.map((mount) => licenceOf(passageOf(story, mount), faultAtMs));
  if (first !== undefined && first.atMs < story.healAtMs) {
    return { first: licenceOf(passageOf(story, first), faultAtMs), later: told(rest) };
  }
  const later = told(first === undefined ? [] : [first, ...rest]);
  // A node that has the volume may write it, mounted or not.
  const refused = refusedMountOf(story, accesses);
  return refused === undefined || refused.atMs >= story.healAtMs
    ? { first: undefined, later }
    : { first: licenceOf(passageOf(story, refused), faultAtMs), later };
}

function licenceOf(passage: Passage, faultAtMs: number): Licence {
  const { mount } = passage;
  const chain = chainOf(passage);
  const steps = [...chain.values()].map(({ seen, link }) => stepOf(seen, link, passage, faultAtMs));
  return {
    from: mount.from,
    to: mount.to,
    atS: seconds(mount.atMs, faultAtMs),
    overlaps: mount.overlaps,
    steps: [...steps, ...operatorSteps(passage, faultAtMs)].toSorted((a, b) => a.atS - b.atS),
    gaps: gapsInChain(new Set(chain.keys()), passage),
  };
}

interface Proven {
  readonly seen: ObservationRecord;
  readonly link: CausalLink;
}

/** The first record of the passage that fits each link; what did not happen is left out. */
function chainOf(passage: Passage): Map<LinkName, Proven> {
  const { story, mount } = passage;
  const chain = new Map<LinkName, Proven>();
  for (const [name, link] of Object.entries(links) as [LinkName, CausalLink][]) {
    // What came after the mount let nobody in.
    const untilMs = mount.atMs + (link.mayFollow === true ? followMs : 0);
    const seen = story.observations.find(
      (each) => each.t >= mount.sinceMs && each.t <= untilMs && link.fits(each, passage),
    );
    if (seen !== undefined) chain.set(name, { seen, link });
  }
  return chain;
}

function stepOf(
  seen: ObservationRecord,
  { step, by }: CausalLink,
  passage: Passage,
  faultAtMs: number,
): LicenceStep {
  const who = by?.(seen, passage);
  return {
    atS: seconds(seen.t, faultAtMs),
    step,
    source: seen.source,
    evidence: evidenceOf(seen),
    recordMs: seen.t,
    ...(who === undefined ? {} : { by: who }),
  };
}

/** What the run did in an operator's place. */
const operatorSteps = ({ story, mount }: Passage, faultAtMs: number): LicenceStep[] =>
  story.records
    .filter((record) => record.type === 'action')
    .filter(({ actor, step, t }) => actor === 'remedy' && step === 'begin' && isWithin(t, mount))
    .map(({ name, node, t }) => ({
      atS: seconds(t, faultAtMs),
      step: `the operator acted: ${name}`,
      source: 'remedy',
      evidence: `on ${node ?? '?'}`,
      recordMs: t,
    }));

const isWithin = (
  t: number,
  { sinceMs, atMs }: { readonly sinceMs: number; readonly atMs: number },
): boolean => t >= sinceMs && t <= atMs;

const seconds = (atMs: number, faultAtMs: number): number => Math.round(atMs - faultAtMs) / 1000;

const evidenceOf = ({ name, node, data }: ObservationRecord): string =>
  `${name}${node === undefined ? '' : ` ${node}`} ${JSON.stringify(data)}`.slice(0, 400);
