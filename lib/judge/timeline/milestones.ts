/**
 * The milestones of a run: by which record each is known, and who sees it. One table, for all who ask
 * what came first, and when.
 */
import {
  type ObservationRecord,
  csiCalls,
  isGranted,
  isRefused,
  observed,
} from '../../history/index.ts';
import type { Roles } from './roles.ts';

/** Who sees a milestone decides how exactly its time is known. */
export type MilestoneWitness = 'runner' | 'api' | 'csi' | 'mounts' | 'log';

export interface Milestone {
  readonly witness: MilestoneWitness;
  /** In a report. */
  readonly says: string;
  /** From when on a run has its own; `never`: others tell the same of a volume that moves. */
  readonly after: 'fault' | 'heal' | 'never';
  readonly is: (seen: ObservationRecord, roles: Roles) => boolean;
  /** A call's is its end, where it is not its beginning. */
  readonly atEnd?: boolean;
}

type Is = Milestone['is'];
type Data = ObservationRecord['data'];
type Fits = (data: Data) => boolean;
const any: Fits = () => true;

/** How one of the two nodes, and its pod, are known. */
const known = (who: 'victim' | 'successor') => {
  const node =
    (name: string, fits: Fits = any): Is =>
    (seen, roles) =>
      seen.name === name && roles[who].onNode(seen) && fits(seen.data);
  const call =
    (fits: (seen: ObservationRecord) => boolean): Is =>
    (seen, roles) =>
      fits(seen) && roles[who].onNode(seen);
  /** Its list of volumes (`kubernetes.io/csi/<driver>^<handle>`) has the run's own one, or lacks it. */
  const lists =
    (name: string, isListed: boolean): Is =>
    (seen, roles) => {
      const isOwn = (volume: unknown): boolean => String(volume).split('^').at(-1) === roles.volume;
      return node(name)(seen, roles) && (seen.data.volumes ?? []).some(isOwn) === isListed;
    };
  return {
    node,
    pod:
      (name: string, fits: Fits = any): Is =>
      (seen, roles) =>
        seen.name === name && roles[who].ofPod(seen) && fits(seen.data),
    call: (name: keyof typeof csiCalls): Is => call(isGranted(csiCalls[name])),
    refused: (name: keyof typeof csiCalls): Is => call(isRefused(csiCalls[name])),
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
    (data.taints ?? []).some((taint) =>
      taint.startsWith(`node.kubernetes.io/unreachable:${effect}`),
    );

type Tell = (says: string, is: Is, more?: Partial<Milestone>) => Milestone;
const seenBy =
  (witness: MilestoneWitness): Tell =>
  (says, is, more = {}) => ({ witness, says, after: 'fault', is, ...more });
const api = seenBy('api');
const csi = seenBy('csi');
const log = seenBy('log');
const atEnd = { atEnd: true } as const;
const healed = { after: 'heal' } as const;
const apart = { after: 'never' } as const;

/** In the order of the textbook. */
export const milestones = {
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
  // Wherever it will be bound.
  created: api(
    'the successor’s pod is created',
    ({ name, data }, roles) => name === observed.podCreated && roles.successor.ofPod({ data }),
  ),
  bound: api('the successor’s pod is bound', successor.pod(observed.podScheduled)),
  'in-use': api('the successor reports the volume in use', successor.lists(observed.volumesInUse)),
  unlisted: api(
    'the victim’s list of attached volumes lacks it',
    victim.lacks(observed.volumesAttached),
  ),
  'force-detach': log(
    'the controller manager says that it forces',
    ({ name }) => name === observed.forceDetachLog,
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
    (seen, roles) =>
      successor.node(observed.serverLog)(seen, roles) &&
      String(seen.data.line).includes(roles.readySign),
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
  'node-gone': api('the victim’s Node object is gone', victim.node(observed.nodeGone), apart),
  unmounted: seenBy('mounts')(
    'the victim has it mounted no more',
    victim.node(observed.unmounted),
    apart,
  ),
  'stage-refused': csi('the successor was refused the mount', successor.refused('stage'), apart),
  'pod-mounted': csi(
    'the successor’s pod is given the mount',
    successor.call('nodePublish'),
    apart,
  ),
} satisfies Readonly<Record<string, Milestone>>;
export type MilestoneName = keyof typeof milestones;
