/** The causal chain: the recorded decisions that let the second writer in. */
import { type ObservationRecord, csiCalls, isRefused, observed } from '../../history/index.ts';
import type { Access } from './access.ts';
import {
  type MilestoneName,
  type Roles,
  type Story,
  milestones,
  rolesIn,
  rolesOf,
  sinceFaultS,
} from './story.ts';
import type { Licence, LicenceStep } from '../verdict/verdict.ts';
import { isDirectory, losesPower } from '../../scenario/index.ts';

// The ways of the volume from node to node.

/** The volume came to another node than the one that had it, or its mount there was refused. */
interface Passage {
  readonly story: Story;
  readonly from: string;
  readonly to: string;
  /** The old node's pod; undefined where no record has it. */
  readonly podUid: string | undefined;
  /** From when on the decisions count that led here, and when it was mounted; the run's clock. */
  readonly sinceMs: number;
  readonly atMs: number;
  /** The mount itself, or its refusal. */
  readonly seen: ObservationRecord;
  readonly isRefused: boolean;
  /** The old node could still write it. */
  readonly overlaps: boolean;
  /** The node that had it is the victim, the one that got it the successor. */
  readonly roles: Roles;
}

type Holder = Pick<Passage, 'from' | 'podUid' | 'sinceMs'>;

/** Undefined without a fault. */
const firstHolder = ({ faultAtMs, victimNode, victimUid }: Story): Holder | undefined =>
  faultAtMs === undefined || victimNode === undefined
    ? undefined
    : { from: victimNode, podUid: victimUid, sinceMs: faultAtMs };

function passage(
  story: Story,
  holder: Holder,
  seen: ObservationRecord & { readonly node: string },
  accesses: readonly Access[],
): Passage {
  const { from, podUid } = holder;
  const { t: atMs, node: to } = seen;
  return {
    ...{ story, ...holder, to, atMs, seen, isRefused: seen.name !== observed.mounted },
    overlaps: accesses.some((each) => each.node === from && each.fromMs < atMs && each.toMs > atMs),
    roles: rolesOf({ node: from, uid: podUid }, story.database, to),
  };
}

type OnNode = ObservationRecord & { readonly node: string };
const hasNode = (seen: ObservationRecord): seen is OnNode => seen.node !== undefined;

/** Each second mount, in order of time, from the fault to the end of the run. */
function secondMountsOf(story: Story, accesses: readonly Access[]): Passage[] {
  const { observations } = story;
  let holder = firstHolder(story);
  const found: Passage[] = [];
  for (const seen of observations.filter(hasNode)) {
    const { name, node, t } = seen;
    if (holder === undefined || name !== observed.mounted) continue;
    if (t < holder.sinceMs || node === holder.from) continue;
    found.push(passage(story, holder, seen, accesses));
    const bound = observations.findLast(
      (each) => each.name === observed.podScheduled && each.node === node && each.t <= t,
    );
    holder = { from: node, podUid: bound?.data.uid, sinceMs: t };
  }
  return found;
}

/** The first mount that was refused on another node than the victim's, from the fault on. */
function refusedMountOf(story: Story, accesses: readonly Access[]): Passage | undefined {
  const holder = firstHolder(story);
  const roles = rolesIn(story);
  const seen = story.observations
    .filter(hasNode)
    .find(
      (each) =>
        holder !== undefined &&
        each.t >= holder.sinceMs &&
        milestones['stage-refused'].is(each, roles),
    );
  return holder && seen && passage(story, holder, seen, accesses);
}

// Who requested a link of a licence, in plain words, as far as a record shows.

/** What a request must be to be the one that is meant. */
interface Wanted {
  readonly verbs: readonly string[];
  readonly resources: readonly string[];
  /** Name of the object, by the change that the request led to. */
  readonly object: (seen: ObservationRecord, passage: Passage) => unknown;
  readonly fits?: (data: ObservationRecord['data']) => boolean;
}

const endOfPod: Wanted = {
  verbs: ['delete', 'deletecollection', 'create'],
  resources: ['pods', 'pods/eviction'],
  object: ({ data }) => data.pod,
  // A pod's creation is no request to remove it.
  fits: ({ verb, resource }) => verb !== 'create' || resource === 'pods/eviction',
};
const endOfNode: Wanted = {
  ...{ verbs: ['delete'], resources: ['nodes'], object: (_, { from }) => from },
};
const taintOf = (key: string): Wanted => ({
  ...{ verbs: ['patch', 'update'], resources: ['nodes'], object: (_, { from }) => from },
  fits: ({ taints }) => JSON.stringify(taints ?? []).includes(key),
});
const endOfAttachment: Wanted = {
  ...{ verbs: ['delete', 'deletecollection'], resources: ['volumeattachments'] },
  object: ({ data }) => data.attachment,
};

/** A remedy's own request may come in this much before or after what the run wrote of it. */
const slackMs = 1000;
/** Requests are stamped to the millisecond of another clock. */
const stampMs = 20;

/** The last such request of the passage that was granted before the change was reported. */
function requestFor(
  { verbs, resources, object, fits }: Wanted,
  seen: ObservationRecord,
  passage: Passage,
): ObservationRecord | undefined {
  const named = object(seen, passage);
  return passage.story.observations.findLast(
    ({ name, t, data }) =>
      name === observed.apiRequest &&
      t >= passage.sinceMs - slackMs &&
      t <= seen.t + stampMs &&
      verbs.includes(data.verb) &&
      resources.includes(data.resource) &&
      data.object === named &&
      Number(data.code) < 300 &&
      fits?.(data) !== false,
  );
}

function whoActed(
  seen: ObservationRecord,
  { request: wanted, orElse }: CausalLink,
  passage: Passage,
): string | undefined {
  const request = wanted && requestFor(wanted, seen, passage);
  if (request === undefined) return orElse?.(seen, passage);
  const { gracePeriodS, agent } = request.data;
  const grace = gracePeriodS === undefined ? '' : `, grace period ${gracePeriodS} s`;
  // A client's program is the part before the version.
  const program = typeof agent === 'string' ? `, by ${agent.split('/')[0]}` : '';
  return `${requester(request, passage.story)}${grace}${program}`;
}

type Who = (seen: ObservationRecord, passage: Passage) => string | undefined;

const theRemedy: Who = ({ t }, { story }) => {
  const remedy = remedyAt(story, t);
  return remedy === undefined ? undefined : `the operator (remedy ${remedy})`;
};

/** Without an audit log the pod's condition may show who removed it. */
const thePodGc: Who = ({ t: atMs }, { story, podUid }) =>
  story.observations.findLast(
    ({ name, t, data }) => name === observed.podDisruption && data.uid === podUid && t <= atMs,
  )?.data.reason === 'DeletionByPodGC'
    ? 'the pod garbage collector'
    : undefined;

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
// who requested it, and when its absence is a gap.

interface CausalLink {
  readonly step: string;
  readonly fits: (seen: ObservationRecord, passage: Passage) => boolean;
  /** The request that leads to it. */
  readonly request?: Wanted;
  /** Who did it, in plain words, where no record has such a request. */
  readonly orElse?: Who;
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
const not =
  (fits: Fits): Fits =>
  (seen, passage) =>
    !fits(seen, passage);

const onOld: Fits = (seen, { roles }) => roles.victim.onNode(seen);
const isOldCut = all(onOld, ({ name }) => name === observed.deviceCut);
/** The harness plays the loss of power by cutting the device: no storage did that. */
const isOfCrash: Fits = ({ t }, { story: { scenario, faultDoneAtMs = Infinity } }) =>
  losesPower(scenario.fault.kind) && t <= faultDoneAtMs;
const isOfRemedy: Fits = ({ t }, { story: { scenario, remedy, switchedOffMs = 0 } }) =>
  !losesPower(scenario.fault.kind) &&
  isWithin(t, { sinceMs: remedy?.t ?? Infinity, atMs: switchedOffMs });
const isUnheard: Fits = ({ data }) => data.status === 'Unknown';
const hasTaint =
  (key: string): Fits =>
  ({ data }) =>
    JSON.stringify(data.taints).includes(`/${key}:NoExecute`);
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
const neverGranted: Fits = (_, passage) =>
  !passage.story.observations.some(
    (each) => isWithin(each.t, passage) && is('detach-answered')(each, passage),
  );

const link = (
  step: string,
  fits: Fits,
  more: Omit<CausalLink, 'step' | 'fits'> = {},
): CausalLink => ({ step, fits, ...more });

/** By its kubelet, since its node shuts down: its deletion is no eviction. */
const isEnd: Fits = (seen, passage) =>
  passage.story.scenario.fault.kind === 'node-shutdown' && is('victim-failed')(seen, passage);
const wasEnded: Fits = ({ t: atMs }, passage) =>
  passage.story.observations.some((each) => each.t <= atMs && isEnd(each, passage));

/** Each by its name, which says what its absence means (`needs`). */
const links = {
  unreachable: link('the node was declared unreachable', all(is('not-ready'), isUnheard)),
  notReady: link(
    'the kubelet said that its node is not Ready',
    all(is('not-ready'), not(isUnheard)),
  ),
  taintedUnreachable: link(
    'it was tainted unreachable:NoExecute',
    all(is('no-execute'), hasTaint('unreachable')),
    { request: taintOf('unreachable') },
  ),
  taintedNotReady: link(
    'it was tainted not-ready:NoExecute',
    all(is('no-execute'), hasTaint('not-ready')),
    { request: taintOf('not-ready') },
  ),
  evicted: link('the pod was evicted (it is Terminating)', all(is('evicted'), not(wasEnded)), {
    request: endOfPod,
  }),
  ended: link(
    'the kubelet ended the pod, and nothing holds its volume (it is Failed or Succeeded)',
    isEnd,
  ),
  outOfService: link('the node was tainted out-of-service', all(onOld, isOutOfService), {
    request: taintOf('out-of-service'),
    orElse: theRemedy,
  }),
  nodeGone: link('the Node object was deleted', is('node-gone'), {
    request: endOfNode,
    orElse: theRemedy,
  }),
  podGone: link('the pod object was gone', is('pod-gone'), {
    request: endOfPod,
    orElse: (seen, passage) => thePodGc(seen, passage) ?? theRemedy(seen, passage),
  }),
  bound: link('another pod was bound to the successor’s node', is('bound')),
  unmounted: link('the old node no longer had the volume mounted', is('unmounted')),
  controllerAnew: link(ownSteps.newManager, ({ name }) => name === observed.leaderAcquired),
  powerLost: link('the crash took the old node’s storage path away', all(isOldCut, isOfCrash)),
  switchedOff: link(
    'the old node was switched off, and its storage path with it',
    all(isOldCut, isOfRemedy),
  ),
  cutOff: link('the storage cut the old node off', all(isOldCut, not(isOfCrash), not(isOfRemedy))),
  waitOver: link(
    'the attach/detach controller gave up waiting for the unmount',
    forced('maxWaitForUnmountDuration expired'),
  ),
  taintTaken: link(
    'the attach/detach controller did not wait for the unmount, because of the taint',
    forced('out-of-service'),
  ),
  detached: link('the VolumeAttachment was deleted', isDetachStep, { request: endOfAttachment }),
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
    (each, { seen, isRefused }) => each === seen && !isRefused,
  ),
  nodePublished: link('the successor’s pod got the mount', all(is('pod-mounted'), not(isShared)), {
    mayFollow: true,
  }),
} satisfies Readonly<Record<string, CausalLink>>;
type LinkName = keyof typeof links;

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

const wasMounted = ({ isRefused }: Passage): boolean => !isRefused;

const needs: readonly NeededLinks[] = [
  {
    anyOf: ['podGone'],
    gap: 'no record shows when the old pod was removed',
    when: isStateful,
  },
  {
    anyOf: ['podGone', 'evicted', 'unreachable', 'notReady'],
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
function deletedByHand(passage: Passage): boolean {
  const { observations, remedy } = passage.story;
  const hasAudit = observations.some(({ name }) => name === observed.apiRequest);
  if (!hasAudit) return remedy?.name.includes('attachment') === true;
  return observations
    .filter(({ name, t }) => name === observed.attachmentDeleting && isWithin(t, passage))
    .map((seen) => requestFor({ ...endOfAttachment, verbs: ['delete'] }, seen, passage))
    .some((request) => request && !String(request.data.user).includes('attachdetach'));
}

const gapsInChain = (proven: ReadonlySet<LinkName>, passage: Passage): string[] =>
  needs
    .filter(({ when }) => when?.(passage) !== false)
    .filter(({ anyOf }) => !anyOf.some((name) => proven.has(name)))
    .map(({ gap }) => gap);

// The licence: the chain of recorded decisions that let a second node mount the volume. Each link is tied to
// the record that proves it; a link that must be there and is not is a gap, and is listed.

/** The pod's own mount follows the volume's by less than this. */
const followMs = 30_000;

interface Licences {
  /**
   * Licence of the first second mount; where none came before the heal, of the first that was refused, or
   * undefined.
   */
  readonly first: Licence | undefined;
  /** Those of every other one: back to the old node, or after the heal. */
  readonly later: readonly Licence[];
}

/** `accesses`: who could write, when. */
export function licencesOf(story: Story, accesses: readonly Access[]): Licences {
  const mounts = secondMountsOf(story, accesses);
  const [first, ...rest] = mounts;
  const isBeforeHeal = (each: Passage | undefined): each is Passage =>
    each !== undefined && each.atMs < story.healAtMs;
  if (isBeforeHeal(first)) return { first: licenceOf(first), later: rest.map(licenceOf) };
  // A node that has the volume may write it, mounted or not.
  const refused = refusedMountOf(story, accesses);
  return {
    first: isBeforeHeal(refused) ? licenceOf(refused) : undefined,
    later: mounts.map(licenceOf),
  };
}

function licenceOf(passage: Passage): Licence {
  const { story, from, to, atMs, overlaps } = passage;
  const chain = chainOf(passage);
  const steps = [...chain].map(([name, seen]) => stepOf(seen, links[name], passage));
  return {
    ...{ from, to, atS: sinceFaultS(story, atMs), overlaps },
    steps: [...steps, ...operatorSteps(passage)].toSorted((a, b) => a.atS - b.atS),
    gaps: gapsInChain(new Set(chain.keys()), passage),
  };
}

/** The first record of the passage that fits each link; what did not happen is left out. */
function chainOf(passage: Passage): Map<LinkName, ObservationRecord> {
  const { story, sinceMs, atMs } = passage;
  const chain = new Map<LinkName, ObservationRecord>();
  for (const [name, { fits, mayFollow }] of Object.entries(links) as [LinkName, CausalLink][]) {
    // What came after the mount let nobody in.
    const untilMs = atMs + (mayFollow === true ? followMs : 0);
    const seen = story.observations.find(
      (each) => each.t >= sinceMs && each.t <= untilMs && fits(each, passage),
    );
    if (seen !== undefined) chain.set(name, seen);
  }
  return chain;
}

function stepOf(seen: ObservationRecord, link: CausalLink, passage: Passage): LicenceStep {
  const by = whoActed(seen, link, passage);
  const { t: recordMs, source, name, node, data } = seen;
  const where = node === undefined ? '' : ` ${node}`;
  return {
    ...{ atS: sinceFaultS(passage.story, recordMs), step: link.step, source },
    evidence: `${name}${where} ${JSON.stringify(data)}`.slice(0, 400),
    recordMs,
    ...(by !== undefined && { by }),
  };
}

/** What the run did in an operator's place. */
const operatorSteps = (passage: Passage): LicenceStep[] =>
  passage.story.records
    .filter((record) => record.type === 'action')
    .filter(({ actor, step, t }) => actor === 'remedy' && step === 'begin' && isWithin(t, passage))
    .map(({ name, node, t }) => ({
      ...{ atS: sinceFaultS(passage.story, t), step: `the operator acted: ${name}` },
      ...{ source: 'remedy', evidence: `on ${node ?? '?'}`, recordMs: t },
    }));

const isWithin = (t: number, { sinceMs, atMs }: Pick<Passage, 'sinceMs' | 'atMs'>): boolean =>
  t >= sinceMs && t <= atMs;
