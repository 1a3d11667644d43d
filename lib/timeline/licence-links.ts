/**
 * The links of a licence in the order in which Kubernetes takes these decisions: which record proves
 * each, who asked for it, and when its absence is a gap.
 */
import type { ObservationRecord } from '../history/events.ts';
import { csiCalls, observed } from '../history/observations.ts';
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

const onOld = (seen: ObservationRecord, { mount }: Passage): boolean => seen.node === mount.from;
const onNew = (seen: ObservationRecord, { mount }: Passage): boolean => seen.node === mount.to;
const ofOldPod = (seen: ObservationRecord, { mount }: Passage): boolean =>
  seen.data['uid'] === mount.podUid;
const called = (seen: ObservationRecord, name: string): boolean =>
  seen.name === observed.csiCall && seen.data['call'] === name;
const granted = (seen: ObservationRecord, name: string): boolean =>
  called(seen, name) && seen.data['error'] === undefined;
/** The controller manager's line says why it did not wait (reconciler.go, reconcile). */
const forced = (seen: ObservationRecord, why: string): boolean =>
  seen.name === observed.forceDetachLog && String(seen.data['line']).includes(why);
const tainted = (seen: ObservationRecord, key: string): boolean =>
  seen.name === observed.nodeTaints && JSON.stringify(seen.data['taints']).includes(key);

/** Declared ReadWriteMany, the second attachment waits for nothing. */
const forMany = ({ story }: Passage): boolean => story.scenario.accessMode === 'ReadWriteMany';

const detachedBy = (atMs: number, { story, mount }: Passage): boolean =>
  story.observations.some(
    ({ name, node, t }) => name === observed.attachmentGone && node === mount.from && t <= atMs,
  );

const isDetach = ({ name }: ObservationRecord): boolean =>
  name === observed.attachmentDeleting || name === observed.attachmentGone;

/** Each by its name, which says what its absence means (licence-gaps.ts). */
export const links = {
  notReady: {
    step: 'the node was declared unreachable',
    fits: (seen, passage) =>
      seen.name === observed.nodeReady && onOld(seen, passage) && seen.data['status'] !== 'True',
  },
  tainted: {
    step: 'it was tainted unreachable:NoExecute',
    fits: (seen, passage) => onOld(seen, passage) && tainted(seen, 'unreachable:NoExecute'),
    by: whoTainted('unreachable'),
  },
  evicted: {
    step: 'the pod was evicted (it is Terminating)',
    fits: (seen, passage) => seen.name === observed.podTerminating && ofOldPod(seen, passage),
    by: whoDeleted,
  },
  outOfService: {
    step: 'the node was tainted out-of-service',
    fits: (seen, passage) => onOld(seen, passage) && tainted(seen, 'out-of-service'),
    by: (seen, passage) => whoTainted('out-of-service')(seen, passage) ?? remedyOf(seen, passage),
  },
  nodeGone: {
    step: 'the Node object was deleted',
    fits: (seen, passage) => seen.name === observed.nodeGone && onOld(seen, passage),
    by: whoDeletedNode,
  },
  podGone: {
    step: 'the pod object was gone',
    fits: (seen, passage) => seen.name === observed.podGone && ofOldPod(seen, passage),
    by: whoRemoved,
  },
  bound: {
    step: 'another pod was bound to the successor’s node',
    fits: (seen, passage) =>
      seen.name === observed.podScheduled && onNew(seen, passage) && !ofOldPod(seen, passage),
  },
  unmounted: {
    step: 'the old node had the volume mounted no more',
    fits: (seen, passage) => seen.name === observed.unmounted && onOld(seen, passage),
  },
  controllerAnew: {
    step: ownSteps.newManager,
    fits: ({ name }) => name === observed.leaderAcquired,
  },
  cutOff: {
    step: 'the disk cut the old node off',
    fits: (seen, passage) => seen.name === observed.deviceCut && onOld(seen, passage),
  },
  waitOver: {
    step: 'the attach/detach controller gave up waiting for the unmount',
    fits: (seen) => forced(seen, 'maxWaitForUnmountDuration expired'),
  },
  taintTaken: {
    step: 'the attach/detach controller took the taint’s word and did not wait',
    fits: (seen) => forced(seen, 'out-of-service'),
  },
  detached: {
    step: 'the VolumeAttachment was deleted',
    fits: (seen, passage) => isDetach(seen) && onOld(seen, passage),
    by: whoDetached,
  },
  detachRefused: {
    step: ownSteps.uncertain,
    fits: (seen, passage) =>
      called(seen, csiCalls.unpublish) &&
      seen.data['error'] !== undefined &&
      onOld(seen, passage) &&
      !passage.story.observations.some(
        (each) =>
          each.t <= passage.mount.atMs &&
          each.t >= passage.mount.sinceMs &&
          granted(each, csiCalls.unpublish) &&
          onOld(each, passage),
      ),
  },
  unpublished: {
    step: 'the driver answered the detach',
    fits: (seen, passage) => granted(seen, csiCalls.unpublish) && onOld(seen, passage),
  },
  published: {
    step: 'the driver attached the volume elsewhere',
    fits: (seen, passage) => granted(seen, csiCalls.publish) && onNew(seen, passage),
  },
  attachedTwice: {
    step: 'declared ReadWriteMany, it was attached a second time before it was detached',
    fits: (seen, passage) =>
      seen.name === observed.attachmentAttached &&
      onNew(seen, passage) &&
      forMany(passage) &&
      !detachedBy(seen.t, passage),
  },
  staged: {
    step: 'the successor staged it',
    fits: (seen, passage) => granted(seen, csiCalls.stage) && onNew(seen, passage),
  },
  mountRefused: {
    step: 'the successor had the volume, and its mount was refused',
    fits: (seen, passage) =>
      called(seen, csiCalls.stage) && seen.data['error'] !== undefined && onNew(seen, passage),
  },
  sharedOut: {
    step: 'the shared directory, which nothing attaches, was given to the successor',
    fits: (seen, passage) =>
      passage.story.scenario.disk === 'shared-file' &&
      granted(seen, csiCalls.nodePublish) &&
      onNew(seen, passage),
  },
  mounted: {
    step: 'the volume was mounted a second time',
    fits: (seen, { mount }) => seen === mount.seen && mount.isRefused !== true,
  },
  nodePublished: {
    step: 'the successor’s pod was given the mount',
    fits: (seen, passage) =>
      passage.story.scenario.disk !== 'shared-file' &&
      granted(seen, csiCalls.nodePublish) &&
      onNew(seen, passage),
    mayFollow: true,
  },
} satisfies Readonly<Record<string, Link>>;

export type LinkName = keyof typeof links;
