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
type Data = ObservationRecord['data'];
type Fits = (data: Data) => boolean;
const any: Fits = () => true;

const list = (data: Data, field: string): readonly unknown[] => {
  const value = data[field];
  return Array.isArray(value) ? value : [];
};

/** How one of the two nodes, and its pod, are known. */
const known = (who: 'victim' | 'successor') => {
  const node =
    (name: string, fits: Fits = any): Is =>
    ({ seen, cast }) =>
      seen.name === name && seen.node !== undefined && seen.node === cast[who] && fits(seen.data);
  /** Its list of volumes (`kubernetes.io/csi/<driver>^<handle>`) has the run's own one, or lacks it. */
  const lists =
    (name: string, isListed: boolean): Is =>
    ({ seen, cast }) => {
      const isOwn = (volume: unknown): boolean => String(volume).split('^').at(-1) === cast.volume;
      return node(name)({ seen, cast }) && list(seen.data, 'volumes').some(isOwn) === isListed;
    };
  return {
    node,
    pod:
      (name: string, fits: Fits = any): Is =>
      ({ seen, cast }) => {
        const uid = cast[`${who}Uid`];
        return (
          seen.name === name && uid !== undefined && seen.data['uid'] === uid && fits(seen.data)
        );
      },
    call: (call: keyof typeof csiCalls): Is =>
      node(observed.csiCall, (data) => data['call'] === csiCalls[call] && !('error' in data)),
    lists: (name: string): Is => lists(name, true),
    lacks: (name: string): Is => lists(name, false),
  };
};
const victim = known('victim');
const successor = known('successor');

const isReady: Fits = ({ status }) => status === 'True';
const notReady: Fits = (data) => !isReady(data);
const tainted =
  (effect: string): Fits =>
  (data) =>
    list(data, 'taints').some((taint) =>
      String(taint).startsWith(`node.kubernetes.io/unreachable:${effect}`),
    );

type Step = (says: string, is: Is, more?: Partial<StepDefinition>) => StepDefinition;
const seenBy =
  (witness: Witness): Step =>
  (says, is, more = {}) => ({ witness, says, after: 'fault', is, ...more });
const api = seenBy('api');
const csi = seenBy('csi');
const log = seenBy('log');
const atEnd = { atEnd: true } as const;
const healed = { after: 'heal' } as const;

/** In the order of the textbook. */
export const stepDefinitions = {
  'not-ready': api('the victim is not Ready', victim.node(observed.nodeReady, notReady)),
  'no-schedule': api(
    'the victim is tainted NoSchedule',
    victim.node(observed.nodeTaints, tainted('NoSchedule')),
  ),
  'no-execute': api(
    'the victim is tainted NoExecute',
    victim.node(observed.nodeTaints, tainted('NoExecute')),
  ),
  'victim-unready': api(
    'the victim’s pod is not ready',
    victim.pod(observed.podReady, ({ ready }) => ready === false),
  ),
  evicted: api('the victim’s pod is Terminating', victim.pod(observed.podTerminating)),
  'victim-failed': api(
    'the victim’s pod is Failed',
    victim.pod(observed.podPhase, ({ phase }) => phase === 'Failed'),
  ),
  'pod-gone': api('the victim’s pod is gone', victim.pod(observed.podGone)),
  created: api('the successor’s pod is created', successor.pod(observed.podCreated)),
  bound: api('the successor’s pod is bound', successor.pod(observed.podScheduled)),
  'in-use': api('the successor reports the volume in use', successor.lists(observed.volumesInUse)),
  unlisted: api(
    'the victim’s list of attached volumes lacks it',
    victim.lacks(observed.volumesAttached),
  ),
  'force-detach': log(
    'the controller manager says that it forces',
    ({ seen }) => seen.name === observed.forceDetachLog,
  ),
  'detach-asked': api(
    'the victim’s attachment is deleted',
    victim.node(observed.attachmentDeleting),
  ),
  'detach-answered': csi('the disk has answered the detach', victim.call('unpublish'), atEnd),
  detached: api('the victim’s attachment is gone', victim.node(observed.attachmentGone)),
  'attach-asked': api(
    'the successor’s attachment is created',
    successor.node(observed.attachmentCreated),
  ),
  'attach-answered': csi('the disk has answered the attach', successor.call('publish'), atEnd),
  attached: api(
    'the successor’s attachment is attached',
    successor.node(observed.attachmentAttached),
  ),
  listed: api('the successor’s list names the volume', successor.lists(observed.volumesAttached)),
  'stage-begun': csi('the successor begins to stage', successor.call('stage')),
  staged: csi('the successor has staged', successor.call('stage'), atEnd),
  mounted: seenBy('mounts')('the successor has mounted', successor.node(observed.mounted)),
  running: api('the successor’s pod is running', successor.pod(observed.podRunning)),
  serving: log(
    'the successor’s server says that it is ready',
    successor.node(observed.serverLog, ({ line }) =>
      String(line).includes(database.log.signs.ready),
    ),
  ),
  ready: api(
    'the successor’s pod is ready',
    successor.pod(observed.podReady, ({ ready }) => ready === true),
  ),
  'ready-again': api(
    'the healed victim is Ready',
    victim.node(observed.nodeReady, isReady),
    healed,
  ),
  untainted: api(
    'the healed victim has no unreachable taint',
    victim.node(observed.nodeTaints, (data) => !tainted('')(data)),
    healed,
  ),
  unpublished: csi('the healed victim has unpublished', victim.call('nodeUnpublish'), {
    ...healed,
    ...atEnd,
  }),
  unstaged: csi('the healed victim has unstaged', victim.call('unstage'), {
    ...healed,
    ...atEnd,
  }),
  'not-in-use': api(
    'the healed victim reports it in use no more',
    victim.lacks(observed.volumesInUse),
    healed,
  ),
} satisfies Readonly<Record<string, StepDefinition>>;

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
export function castOf(story: Story): Cast | undefined {
  const { observations, victimNode, victimUid, faultAtMs } = story;
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
