/** Who is who in a run, by what each of its steps is known, and who sees it. */
import { database } from '../database/chosen.ts';
import type { ObservationRecord } from '../history/events.ts';
import { csiCalls, observed } from '../history/observations.ts';
import type { Story } from '../timeline/story.ts';

/** Who sees a step decides how exactly its time is known. */
export type Witness = 'runner' | 'api' | 'csi' | 'mounts' | 'log';

interface Sighting {
  readonly seen: ObservationRecord;
  readonly cast: Cast;
}

export interface StepDefinition {
  readonly witness: Witness;
  /** In a report. */
  readonly says: string;
  readonly after: 'fault' | 'heal';
  readonly is: (sighting: Sighting) => boolean;
  /** A call's step is its end, where it is not its beginning. */
  readonly atEnd?: boolean;
}

type Is = StepDefinition['is'];

const ofPod =
  (whose: 'victimUid' | 'successorUid', name: string): Is =>
  ({ seen, cast }) =>
    seen.name === name && cast[whose] !== undefined && seen.data['uid'] === cast[whose];
const onNode =
  (whose: 'victim' | 'successor', name: string): Is =>
  ({ seen, cast }) =>
    seen.name === name && seen.node !== undefined && seen.node === cast[whose];
const both =
  (is: Is, also: (data: ObservationRecord['data']) => boolean): Is =>
  (sighting) =>
    is(sighting) && also(sighting.seen.data);
const call = (whose: 'victim' | 'successor', name: string): Is =>
  both(onNode(whose, observed.csiCall), (data) => data['call'] === name && !('error' in data));

const list = (data: ObservationRecord['data'], field: string): readonly unknown[] => {
  const value = data[field];
  return Array.isArray(value) ? value : [];
};
/** A node's list of volumes (`kubernetes.io/csi/<driver>^<handle>`) has the run's own one. */
const hasOwn = ({ seen, cast }: Sighting): boolean =>
  list(seen.data, 'volumes').some((name) => String(name).split('^').at(-1) === cast.volume);
const listed = (whose: 'victim' | 'successor', name: string): Is => {
  const is = onNode(whose, name);
  return (sighting) => is(sighting) && hasOwn(sighting);
};
const listedNot = (whose: 'victim' | 'successor', name: string): Is => {
  const is = onNode(whose, name);
  return (sighting) => is(sighting) && !hasOwn(sighting);
};
const tainted =
  (start: string) =>
  (data: ObservationRecord['data']): boolean =>
    list(data, 'taints').some((taint) => String(taint).startsWith(start));

const unreachable = 'node.kubernetes.io/unreachable:';
const api = { witness: 'api', after: 'fault' } as const;
const csi = { witness: 'csi', after: 'fault', atEnd: true } as const;

/** In the order of the textbook. */
export const stepDefinitions = {
  'not-ready': {
    ...{ ...api, says: 'the victim is not Ready' },
    is: both(onNode('victim', observed.nodeReady), ({ status }) => status !== 'True'),
  },
  'no-schedule': {
    ...{ ...api, says: 'the victim is tainted NoSchedule' },
    is: both(onNode('victim', observed.nodeTaints), tainted(`${unreachable}NoSchedule`)),
  },
  'no-execute': {
    ...{ ...api, says: 'the victim is tainted NoExecute' },
    is: both(onNode('victim', observed.nodeTaints), tainted(`${unreachable}NoExecute`)),
  },
  'victim-unready': {
    ...{ ...api, says: 'the victim’s pod is not ready' },
    is: both(ofPod('victimUid', observed.podReady), ({ ready }) => ready === false),
  },
  evicted: {
    ...{ ...api, says: 'the victim’s pod is Terminating' },
    is: ofPod('victimUid', observed.podTerminating),
  },
  'victim-failed': {
    ...{ ...api, says: 'the victim’s pod is Failed' },
    is: both(ofPod('victimUid', observed.podPhase), ({ phase }) => phase === 'Failed'),
  },
  'pod-gone': {
    ...{ ...api, says: 'the victim’s pod is gone' },
    is: ofPod('victimUid', observed.podGone),
  },
  created: {
    ...{ ...api, says: 'the successor’s pod is created' },
    is: ofPod('successorUid', observed.podCreated),
  },
  bound: {
    ...{ ...api, says: 'the successor’s pod is bound' },
    is: ofPod('successorUid', observed.podScheduled),
  },
  'in-use': {
    ...{ ...api, says: 'the successor reports the volume in use' },
    is: listed('successor', observed.volumesInUse),
  },
  unlisted: {
    ...{ ...api, says: 'the victim’s list of attached volumes lacks it' },
    is: listedNot('victim', observed.volumesAttached),
  },
  'force-detach': {
    ...{ witness: 'log', after: 'fault', says: 'the controller manager says that it forces' },
    is: ({ seen }) => seen.name === observed.forceDetachLog,
  },
  'detach-asked': {
    ...{ ...api, says: 'the victim’s attachment is deleted' },
    is: onNode('victim', observed.attachmentDeleting),
  },
  'detach-answered': {
    ...{ ...csi, says: 'the disk has answered the detach' },
    is: call('victim', csiCalls.unpublish),
  },
  detached: {
    ...{ ...api, says: 'the victim’s attachment is gone' },
    is: onNode('victim', observed.attachmentGone),
  },
  'attach-asked': {
    ...{ ...api, says: 'the successor’s attachment is created' },
    is: onNode('successor', observed.attachmentCreated),
  },
  'attach-answered': {
    ...{ ...csi, says: 'the disk has answered the attach' },
    is: call('successor', csiCalls.publish),
  },
  attached: {
    ...{ ...api, says: 'the successor’s attachment is attached' },
    is: onNode('successor', observed.attachmentAttached),
  },
  listed: {
    ...{ ...api, says: 'the successor’s list names the volume' },
    is: listed('successor', observed.volumesAttached),
  },
  'stage-begun': {
    ...{ witness: 'csi', after: 'fault', says: 'the successor begins to stage' },
    is: call('successor', csiCalls.stage),
  },
  staged: {
    ...{ ...csi, says: 'the successor has staged' },
    is: call('successor', csiCalls.stage),
  },
  mounted: {
    ...{ witness: 'mounts', after: 'fault', says: 'the successor has mounted' },
    is: onNode('successor', observed.mounted),
  },
  running: {
    ...{ ...api, says: 'the successor’s pod is running' },
    is: ofPod('successorUid', observed.podRunning),
  },
  serving: {
    ...{ witness: 'log', after: 'fault', says: 'the successor’s server says that it is ready' },
    is: both(onNode('successor', observed.serverLog), ({ line }) =>
      String(line).includes(database.log.signs.ready),
    ),
  },
  ready: {
    ...{ ...api, says: 'the successor’s pod is ready' },
    is: both(ofPod('successorUid', observed.podReady), ({ ready }) => ready === true),
  },
  'ready-again': {
    ...{ witness: 'api', after: 'heal', says: 'the healed victim is Ready' },
    is: both(onNode('victim', observed.nodeReady), ({ status }) => status === 'True'),
  },
  untainted: {
    ...{ witness: 'api', after: 'heal', says: 'the healed victim has no unreachable taint' },
    is: both(onNode('victim', observed.nodeTaints), (data) => !tainted(unreachable)(data)),
  },
  unpublished: {
    ...{ witness: 'csi', after: 'heal', says: 'the healed victim has unpublished', atEnd: true },
    is: call('victim', csiCalls.nodeUnpublish),
  },
  unstaged: {
    ...{ witness: 'csi', after: 'heal', says: 'the healed victim has unstaged', atEnd: true },
    is: call('victim', csiCalls.unstage),
  },
  'not-in-use': {
    ...{ witness: 'api', after: 'heal', says: 'the healed victim reports it in use no more' },
    is: listedNot('victim', observed.volumesInUse),
  },
} as const satisfies Readonly<Record<string, StepDefinition>>;

/** Who is who in a run: the victim and its pod, the successor and its pod. */
interface Cast {
  readonly victim: string;
  readonly victimUid: string | undefined;
  /** The first other node that mounted the volume, else the first that a new pod was bound to. */
  readonly successor: string | undefined;
  readonly successorUid: string | undefined;
  /** The volume's handle: a node's lists name those of other runs as well. */
  readonly volume: string | undefined;
}

/** Undefined where the run ended before its fault. */
export function castOf({
  observations,
  victimNode,
  victimUid,
  faultAtMs,
}: Story): Cast | undefined {
  if (victimNode === undefined || faultAtMs === undefined) return undefined;
  const elsewhere = (name: string): (typeof observations)[number] | undefined =>
    observations.find(
      (seen) =>
        seen.t >= faultAtMs &&
        seen.name === name &&
        seen.node !== undefined &&
        seen.node !== victimNode,
    );
  const bound = elsewhere(observed.podScheduled);
  const successor = elsewhere(observed.mounted)?.node ?? bound?.node;
  const replacement = observations.find(
    ({ t, name, data }) =>
      t >= faultAtMs && name === observed.podCreated && String(data['uid']) !== victimUid,
  );
  const pod = bound ?? replacement;
  const call = observations.find(({ name }) => name === observed.csiCall);
  return {
    volume: call === undefined ? undefined : String(call.data['volume']),
    ...{ victim: victimNode, victimUid, successor },
    successorUid: pod === undefined ? undefined : String(pod.data['uid']),
  };
}
