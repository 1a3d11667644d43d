/**
 * The links of a licence in the order in which Kubernetes takes these decisions: which record proves
 * each, who asked for it, and when its absence is a gap.
 */
import type { ObservationRecord } from '../history/events.ts';
import {
  csiCalls,
  isGranted,
  isRefused,
  observed,
  type ObservedName,
} from '../history/observations.ts';
import {
  remedyOf,
  whoDeleted,
  whoDeletedNode,
  whoDetached,
  whoRemoved,
  whoTainted,
} from './licence-askers.ts';
import type { Passage } from './second-mounts.ts';

export interface Link {
  readonly step: string;
  readonly fits: (seen: ObservationRecord, passage: Passage) => boolean;
  /** Who asked for it, in plain words; undefined where no record tells. */
  readonly by?: (seen: ObservationRecord, passage: Passage) => string | undefined;
  /** Whether it may come after the mount, as the pod's own mount does. Default false. */
  readonly mayFollow?: boolean;
}

/** Steps that answer what an experiment asks. */
export const ownSteps = {
  newManager: 'another controller manager took over, and its waits began anew',
  uncertain: 'the storage refused the detach: the attachment was uncertain, and kept nobody out',
} as const;

type Fits = Link['fits'];

const onOld: Fits = ({ node }, { mount }) => node === mount.from;
const onNew: Fits = ({ node }, { mount }) => node === mount.to;
const ofOldPod: Fits = ({ data }, { mount }) => data['uid'] === mount.podUid;
const named =
  (name: ObservedName): Fits =>
  (seen) =>
    seen.name === name;
const all =
  (...each: readonly Fits[]): Fits =>
  (seen, passage) =>
    each.every((fits) => fits(seen, passage));

const notReady: Fits = ({ data }) => data['status'] !== 'True';
const tainted = (key: string): Fits =>
  all(named(observed.nodeTaints), onOld, ({ data }) =>
    JSON.stringify(data['taints']).includes(key),
  );
/** The controller manager's line says why it did not wait (reconciler.go, reconcile). */
const forced = (why: string): Fits =>
  all(named(observed.forceDetachLog), ({ data }) => String(data['line']).includes(why));
const isDetach: Fits = ({ name }) =>
  name === observed.attachmentDeleting || name === observed.attachmentGone;
/** Declared ReadWriteMany, the second attachment waits for nothing. */
const forMany: Fits = (_, { story }) => story.scenario.accessMode === 'ReadWriteMany';
const isShared: Fits = (_, { story }) => story.scenario.disk === 'shared-file';
const notDetachedYet: Fits = ({ t: atMs }, { story, mount }) =>
  !story.observations.some(
    ({ name, node, t }) => name === observed.attachmentGone && node === mount.from && t <= atMs,
  );
const neverGranted: Fits = (_, passage) => {
  const { story, mount } = passage;
  return !story.observations.some(
    (each) =>
      each.t <= mount.atMs &&
      each.t >= mount.sinceMs &&
      isGranted(csiCalls.unpublish)(each) &&
      onOld(each, passage),
  );
};

const link = (step: string, fits: Fits, by?: Link['by']): Link => ({
  ...{ step, fits },
  ...(by === undefined ? {} : { by }),
});

/** Each by its name, which says what its absence means (licence-gaps.ts). */
export const links = {
  notReady: link(
    'the node was declared unreachable',
    all(named(observed.nodeReady), onOld, notReady),
  ),
  tainted: link(
    'it was tainted unreachable:NoExecute',
    tainted('unreachable:NoExecute'),
    whoTainted('unreachable'),
  ),
  evicted: link(
    'the pod was evicted (it is Terminating)',
    all(named(observed.podTerminating), ofOldPod),
    whoDeleted,
  ),
  outOfService: link(
    'the node was tainted out-of-service',
    tainted('out-of-service'),
    (seen, passage) => whoTainted('out-of-service')(seen, passage) ?? remedyOf(seen, passage),
  ),
  nodeGone: link(
    'the Node object was deleted',
    all(named(observed.nodeGone), onOld),
    whoDeletedNode,
  ),
  podGone: link('the pod object was gone', all(named(observed.podGone), ofOldPod), whoRemoved),
  bound: link(
    'another pod was bound to the successor’s node',
    all(named(observed.podScheduled), onNew, (seen, passage) => !ofOldPod(seen, passage)),
  ),
  unmounted: link(
    'the old node had the volume mounted no more',
    all(named(observed.unmounted), onOld),
  ),
  controllerAnew: link(ownSteps.newManager, named(observed.leaderAcquired)),
  cutOff: link('the disk cut the old node off', all(named(observed.deviceCut), onOld)),
  waitOver: link(
    'the attach/detach controller gave up waiting for the unmount',
    forced('maxWaitForUnmountDuration expired'),
  ),
  taintTaken: link(
    'the attach/detach controller took the taint’s word and did not wait',
    forced('out-of-service'),
  ),
  detached: link('the VolumeAttachment was deleted', all(isDetach, onOld), whoDetached),
  detachRefused: link(ownSteps.uncertain, all(isRefused(csiCalls.unpublish), onOld, neverGranted)),
  unpublished: link('the driver answered the detach', all(isGranted(csiCalls.unpublish), onOld)),
  published: link(
    'the driver attached the volume elsewhere',
    all(isGranted(csiCalls.publish), onNew),
  ),
  attachedTwice: link(
    'declared ReadWriteMany, it was attached a second time before it was detached',
    all(named(observed.attachmentAttached), onNew, forMany, notDetachedYet),
  ),
  staged: link('the successor staged it', all(isGranted(csiCalls.stage), onNew)),
  mountRefused: link(
    'the successor had the volume, and its mount was refused',
    all(isRefused(csiCalls.stage), onNew),
  ),
  sharedOut: link(
    'the shared directory, which nothing attaches, was given to the successor',
    all(isShared, isGranted(csiCalls.nodePublish), onNew),
  ),
  mounted: link(
    'the volume was mounted a second time',
    (seen, { mount }) => seen === mount.seen && mount.isRefused !== true,
  ),
  nodePublished: {
    step: 'the successor’s pod was given the mount',
    fits: all(isGranted(csiCalls.nodePublish), onNew, (seen, passage) => !isShared(seen, passage)),
    mayFollow: true,
  },
} satisfies Readonly<Record<string, Link>>;
export type LinkName = keyof typeof links;
