/** The plot of a run, read from its small records: who was the victim, what is a milestone, when was what done. */
import {
  EvidenceError,
  isLossTaint,
  type ZoneState,
  taintRate,
  zoneState,
} from '../../core/index.ts';
import {
  type ActionRecord,
  type HistoryRecord,
  type ObservationRecord,
  type PhaseName,
  type PodRef,
  type RunRecord,
  type SetupRecord,
  type SmallRecord,
  type Tells,
  csiCalls,
  isGranted,
  isRefused,
  observed,
  recordedScenario,
  tellsOf,
} from '../../history/index.ts';
import type { JudgedDatabase } from '../database.ts';
import type { Phases } from '../verdict/verdict.ts';
import { type Scenario, endsMachine, isDirectory, switchesOff } from '../../scenario/index.ts';

export interface Story {
  readonly records: readonly SmallRecord[];
  readonly observations: readonly ObservationRecord[];
  readonly run: RunRecord;
  readonly database: JudgedDatabase;
  /** The run's, completed: an older history lacks fields that came later. */
  readonly scenario: Scenario;
  /** Name in records of the first fault and of the remedy: the kind, or what a caller named his own. */
  readonly faultName: string;
  readonly remedyName: string;
  /** What it may be asked for. */
  readonly tells: Tells;
  /** Absent when the run ended before its testbed was up. */
  readonly setup: SetupRecord | undefined;
  /** When the fault began, ms on the run's clock; absent when it never did. */
  readonly faultAtMs: number | undefined;
  /** When the fault was in place. */
  readonly faultDoneAtMs: number | undefined;
  readonly healAtMs: number;
  /** When the runner began to copy the volume after the heal; absent when it never did. */
  readonly secondImageAtMs: number | undefined;
  readonly endAtMs: number;
  readonly victimNode: string | undefined;
  readonly victimUid: string | undefined;
  readonly remedy: ActionRecord | undefined;
  /** The remedy has switched the victim off; absent where none does. */
  readonly switchedOffMs: number | undefined;
  /** By an admission policy. */
  readonly remedyRefused: ActionRecord | undefined;
}

/** When the victim's machine was off by the fault or a remedy; undefined where it never was. */
export const victimOffMs = ({
  scenario,
  faultDoneAtMs,
  switchedOffMs,
}: Story): number | undefined => (endsMachine(scenario.fault.kind) ? faultDoneAtMs : switchedOffMs);

/**
 * Throws EvidenceError: `HISTORY_EMPTY` (no record of the run), `HISTORY_OF_CLAIM` (it is no scenario's),
 * `HISTORY_TOO_NEW`, `HISTORY_DAMAGED` (its scenario is none).
 */
export function tellStory(records: readonly SmallRecord[], database: JudgedDatabase): Story {
  const run = records.find((record) => record.type === 'run');
  if (run === undefined) {
    throw new EvidenceError('HISTORY_EMPTY', 'the history has no record of its run', {
      hint: records.some(({ type }) => type === 'case')
        ? 'it belongs to the two-kernel lab, whose results are in data/measurements.jsonl'
        : 'the run ended before it wrote anything; run it again',
    });
  }
  if (run.claim !== undefined) {
    throw new EvidenceError('HISTORY_OF_CLAIM', `this is the procedure of claim ${run.claim}`, {
      hint: 'it has neither a fault nor a verdict; `npx zx research/claims.mjs --run FOLDER` reads its answer',
    });
  }
  const tells = tellsOf(run);
  const observations = records.filter((record) => record.type === 'observation');
  const action = (
    actor: ActionRecord['actor'],
    step: ActionRecord['step'],
  ): ActionRecord | undefined =>
    records
      .filter((record) => record.type === 'action')
      .find((record) => record.actor === actor && record.step === step);
  const phaseAt = (phase: PhaseName): number | undefined =>
    records.find((record) => record.type === 'phase' && record.phase === phase)?.t;
  const fault = action('fault', 'begin');
  const scenario = scenarioIn(run);
  const endAtMs = records.at(-1)?.t ?? 0;
  return {
    records,
    observations,
    run,
    database,
    scenario,
    faultName: run.custom?.fault?.name ?? scenario.fault.kind,
    remedyName: run.custom?.remedy?.name ?? scenario.remedy.kind,
    tells,
    setup: records.find((record) => record.type === 'setup'),
    faultAtMs: fault?.t,
    faultDoneAtMs: action('fault', 'done')?.t,
    healAtMs: phaseAt('heal') ?? endAtMs,
    secondImageAtMs: phaseAt('second-image'),
    endAtMs,
    victimNode: fault?.node,
    victimUid: fault === undefined ? undefined : podUidOn(observations, fault.node, fault.t),
    remedy: action('remedy', 'begin'),
    switchedOffMs:
      run.custom?.remedy === undefined && switchesOff(scenario.remedy.kind)
        ? action('remedy', 'done')?.t
        : undefined,
    remedyRefused: action('remedy', 'refused'),
  };
}

function scenarioIn({ scenario }: RunRecord): Scenario {
  try {
    return recordedScenario(scenario);
  } catch (cause) {
    throw new EvidenceError('HISTORY_DAMAGED', 'the scenario in the history is not valid', {
      cause,
    });
  }
}

/** UID of the pod that was last seen running on that node before that time. */
function podUidOn(
  observations: readonly ObservationRecord[],
  node: string | undefined,
  beforeMs: number,
): string | undefined {
  const seen = observations.findLast(
    ({ name, node: on, t }) => name === observed.podRunning && on === node && t <= beforeMs,
  );
  return seen === undefined ? undefined : String(seen.data.uid);
}

/** What comes after the second image was asked for needs not be seen. */
export const lookedUntilMs = ({
  secondImageAtMs,
  endAtMs,
}: Pick<Story, 'secondImageAtMs' | 'endAtMs'>): number => secondImageAtMs ?? endAtMs;

/** Both may mount a shared directory, that is what it is for; the files' locks keep a server out. */
export const locksExclude = ({ scenario }: Pick<Story, 'scenario'>): boolean =>
  isDirectory(scenario.disk.mode) && scenario.disk.fileLocks === 'shared';

/**
 * A call is dated when it came in. In whole microseconds, as records are: the sum of two of them is
 * else a little less than the time of what happened when the call ended.
 */
export const callEndMs = ({ t, data }: Pick<ObservationRecord, 't' | 'data'>): number =>
  Math.round((t + (data.durationMs ?? 0)) * 1000) / 1000;

export const afterFault = (atMs: number, { faultAtMs = 0 }: Pick<Story, 'faultAtMs'>): string =>
  `${((atMs - faultAtMs) / 1000).toFixed(1)} s after the fault`;

/** Seconds after the fault, to the millisecond. */
export const sinceFaultS = ({ faultAtMs = 0 }: Pick<Story, 'faultAtMs'>, atMs: number): number =>
  Math.round(atMs - faultAtMs) / 1000;

// Who is who in a run: by what records of the victim, of the successor and of their pods are known.

type FitsNode = (seen: Pick<ObservationRecord, 'node' | 'data'>) => boolean;

/** A node, and its pod. */
interface RoleTest {
  readonly onNode: FitsNode;
  readonly ofPod: FitsNode;
}

export interface Roles {
  readonly victim: RoleTest;
  readonly successor: RoleTest;
  /** Part of a server's log line: it answers clients. */
  readonly readySign: string;
  /** The volume's handle: a node's lists name those of other runs as well. */
  readonly volume?: string | undefined;
}

/** What is unknown is in no record. */
interface KnownPod {
  readonly node: string | undefined;
  readonly uid: string | undefined;
}

export const roleOf = ({ node: name, uid }: KnownPod): RoleTest => ({
  onNode: ({ node }) => node !== undefined && node === name,
  ofPod: ({ data }) => uid !== undefined && data.uid === uid,
});

/** Roles of a whole run: whoever is not its victim takes over. */
export const rolesIn = ({
  victimNode,
  victimUid,
  database,
}: Pick<Story, 'victimNode' | 'victimUid' | 'database'>): Roles =>
  rolesOf({ node: victimNode, uid: victimUid }, database);

/** `successor`: the node that takes over. Default: whichever is not the victim. */
export function rolesOf(
  victim: KnownPod,
  { log }: Pick<JudgedDatabase, 'log'>,
  successor?: string,
): Roles {
  const isThere = (node: string | undefined): boolean =>
    successor === undefined ? node !== victim.node : node === successor;
  return {
    readySign: log.signs.ready,
    victim: roleOf(victim),
    successor: {
      onNode: ({ node }) => node !== undefined && isThere(node),
      ofPod: ({ node, data }) => data.uid !== victim.uid && isThere(node),
    },
  };
}

// The milestones of a run: by which record each is known, and who sees it. One table, for all who ask what
// came first, and when.

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
/** Unreachable where the kubelet is not heard, not-ready where it says so itself. */
const tainted =
  (effect: string): Fits =>
  ({ taints = [] }) =>
    taints.some((taint) => isLossTaint(taint) && taint.includes(`:${effect}`));

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
    'the victim’s pod is Failed or Succeeded',
    victim.pod(observed.podPhase, ({ phase }) => phase === 'Failed' || phase === 'Succeeded'),
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
    'the healed victim has no taint of a lost node',
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

// A milestone of the way out: its first record after the fault.

/** The first record of it between fault and heal, whoever takes over. */
export function firstAfterFault(story: Story, name: MilestoneName): ObservationRecord | undefined {
  const { faultAtMs, healAtMs, observations } = story;
  if (faultAtMs === undefined) return undefined;
  const roles = rolesIn(story);
  return observations.find(
    (seen) => seen.t >= faultAtMs && seen.t < healAtMs && milestones[name].is(seen, roles),
  );
}

// When each step from fault to recovery happened, in seconds after the fault.

/** `firstSuccessorAckMs`: on the run's clock; from the operations. */
export function phasesOf(story: Story, firstSuccessorAckMs: number | undefined): Phases {
  const { faultAtMs, healAtMs } = story;
  const sinceFault = (atMs: number | undefined): number | null =>
    atMs === undefined || faultAtMs === undefined ? null : sinceFaultS(story, atMs);
  const first = (name: MilestoneName): number | null => sinceFault(firstAfterFault(story, name)?.t);
  return {
    notReady: first('not-ready'),
    evicted: first('evicted'),
    podRemoved: first('pod-gone'),
    detached: first('detached'),
    attached: first('attached'),
    secondMount: first('mounted'),
    recovered: first('ready'),
    firstCommit: sinceFault(
      firstSuccessorAckMs !== undefined && firstSuccessorAckMs < healAtMs
        ? firstSuccessorAckMs
        : undefined,
    ),
  };
}

// How many nodes were Ready when, and what Kubernetes makes of it (lib/core/kubernetes.ts).

interface ZoneMoment {
  /** On the run's clock. */
  readonly atMs: number;
  readonly ready: number;
  readonly lost: number;
  readonly state: ZoneState;
  /** Nodes that Kubernetes taints NoExecute, per second, from then on. */
  readonly rate: number;
}

/** Changes from the fault on that leave the zone disrupted. All nodes are in one zone here, the control plane among them. */
export function troubledZones({ observations, faultAtMs = Infinity }: Story): ZoneMoment[] {
  const isReady = new Map<string, boolean>();
  return observations.flatMap(({ name, node, t: atMs, data }) => {
    if (name !== observed.nodeReady || node === undefined) return [];
    const now = data.status === 'True';
    const isChange = isReady.get(node) !== now;
    isReady.set(node, now);
    const ready = [...isReady.values()].filter(Boolean).length;
    const lost = isReady.size - ready;
    const state = zoneState(ready, lost);
    if (!isChange || atMs < faultAtMs || state === 'normal') return [];
    return [{ atMs, ready, lost, state, rate: taintRate(ready, lost) }];
  });
}

// What the runner must know while it runs, kept up to date from the records as they are made.

/** Whose first time somebody waits for. */
const awaited = ['pod-gone', 'created', 'detach-asked', 'detached', 'mounted'] as const;
type Awaited = (typeof awaited)[number];

export class Sightings {
  readonly #database: JudgedDatabase;
  #victim: PodRef | undefined;
  #roles: Roles | undefined;
  /** A pod may be Terminating before it is the victim's. */
  readonly #terminating: ObservationRecord[] = [];
  readonly #firstAtMs = new Map<Awaited, number>();
  /** Nodes that have the volume mounted now. */
  readonly mountedOn = new Set<string>();
  /** The victim's node is not Ready, or its object is gone. */
  victimNotReady = false;
  /** The last pod that became Ready. */
  ready: { readonly uid: string; readonly node: string } | undefined;

  constructor(database: JudgedDatabase) {
    this.#database = database;
  }

  /** From now on other nodes' mounts are second mounts. */
  begin(victim: PodRef): void {
    this.#victim = victim;
    this.#roles = rolesOf(victim, this.#database);
  }

  see(record: HistoryRecord): void {
    if (record.type !== 'observation') return;
    const { name, node, data } = record;
    if (name === observed.podTerminating) this.#terminating.push(record);
    if (node !== undefined) {
      if (name === observed.mounted) this.mountedOn.add(node);
      if (name === observed.unmounted) this.mountedOn.delete(node);
      if (name === observed.podReady && data.ready) {
        this.ready = { uid: data.uid, node };
      }
    }
    if (this.#roles !== undefined) this.#note(record, this.#roles);
  }

  #note(record: ObservationRecord, roles: Roles): void {
    const is = (name: MilestoneName): boolean => milestones[name].is(record, roles);
    if (is('not-ready') || is('node-gone')) this.victimNotReady = true;
    if (is('ready-again')) this.victimNotReady = false;
    for (const name of awaited) {
      if (!this.#firstAtMs.has(name) && is(name)) this.#firstAtMs.set(name, record.t);
    }
  }

  get victimTerminating(): boolean {
    const roles = this.#roles;
    return (
      roles !== undefined &&
      this.#terminating.some((record) => milestones.evicted.is(record, roles))
    );
  }

  /** When the victim's pod object was gone. */
  get victimGoneAtMs(): number | undefined {
    return this.#firstAtMs.get('pod-gone');
  }

  get victimGone(): boolean {
    return this.#firstAtMs.has('pod-gone');
  }

  /** The victim's volume is being taken away. */
  get victimDetached(): boolean {
    return this.#firstAtMs.has('detach-asked') || this.#firstAtMs.has('detached');
  }

  /** When another node than the victim first mounted the volume. */
  get secondMountAtMs(): number | undefined {
    return this.#firstAtMs.get('mounted');
  }

  get successorMounted(): boolean {
    return this.secondMountAtMs !== undefined;
  }

  get successorReady(): boolean {
    return this.successorMounted && this.ready?.node !== this.#victim?.node;
  }

  /** A successor's pod is there, and no other node has mounted the volume. */
  get successorPending(): boolean {
    return this.#firstAtMs.has('created') && this.secondMountAtMs === undefined;
  }

  /** Another pod than the victim's is Ready on the victim's node. */
  get cameBack(): boolean {
    const { ready } = this;
    return (
      ready !== undefined && ready.node === this.#victim?.node && ready.uid !== this.#victim.uid
    );
  }
}
