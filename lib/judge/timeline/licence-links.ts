/**
 * The links of a licence in the order in which Kubernetes takes these decisions: which record proves
 * each, who asked for it, and when its absence is a gap.
 */
import { isDirectory, losesPower } from '../../scenario/index.ts';
import { type ObservationRecord, csiCalls, isRefused, observed } from '../../history/index.ts';
import {
  remedyOf,
  whoDeleted,
  whoDeletedNode,
  whoDetached,
  whoRemoved,
  whoTainted,
} from './licence-askers.ts';
import { milestones, type MilestoneName } from './milestones.ts';
import type { Passage } from './second-mounts.ts';

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
const isDetach: Fits = (seen, passage) =>
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

/** Each by its name, which says what its absence means (licence-gaps.ts). */
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
  detached: link('the VolumeAttachment was deleted', isDetach, whoDetached),
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
