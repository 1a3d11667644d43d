/** What a scenario is expected to come to. */
import { asksLeaseAgain, type CallName, kubernetesTimes, msUs } from '../../core/index.ts';
import type { Safety, VerdictWord } from '../verdict/verdict.ts';
import {
  type Counts,
  type DiskMode,
  type FaultKind,
  type FieldName,
  type FieldValue,
  type Scenario,
  type SettableName,
  callRulesOf,
  controlPlaneFaults,
  databaseKindNamed,
  isDirectory,
  isOverAtOnce,
  endsMachine,
  removesPodObject,
  revocationOf,
  safetyLevels,
  silencesKubelet,
  strikesNode,
  taints,
  switchesOff,
  takesAttachment,
  transportOf,
  unsettlesAttachments,
  valueAt,
} from '../../scenario/index.ts';

/** What decides an outcome beside the fields of a scenario. */
interface Factors {
  /** Whether a sidecar that can act ends the database before a successor can be let in. */
  readonly selfFenced: 'in time' | 'perhaps in time' | 'no';
  /** An idle victim has few writes under way, and may do no harm. */
  readonly victim: 'busy' | 'idle';
  /** When `ack-early` cuts: before a successor can mount, while it may, before the heal, or later. */
  readonly cut: 'at once' | 'soon' | 'before the heal' | 'late';
  /** What takes the volume from a living victim whose node is off, see `Release`. */
  readonly release: Release;
  /** Whether the attachment may count as uncertain while the storage lets the next node in. */
  readonly attachment: 'counted' | 'perhaps uncertain';
  readonly watchEnds: 'after the hand-over' | 'perhaps before it';
  /** What the driver lets the next node do. */
  readonly successor: 'may serve' | 'may only mount' | 'is kept out';
}

export type Situation = Scenario & Factors;

/** A successor needs more than this from the detach's answer to its first write. */
const soonestMountMs = 500;
/** And mostly less than this: 51 of 54 second mounts after a forced delete (reports/matrix). */
const latestMountMs = 7000;

/** Controllers look every few seconds, and an attach and a mount follow. */
const handOverSlackMs = 60_000;

/** From the fault to the hand-over, by the timers in force; a second fault that lasts holds it up. */
function handOverMs(scenario: Scenario): number {
  const { timers, remedy, also } = scenario;
  const evictedMs = timers.grace + timers.toleration;
  const goneMs = typeof remedy.at === 'number' ? Math.max(evictedMs, remedy.at) : evictedMs;
  const waitsMs = volumeReleaseOf(scenario) === 'timeout' ? timers.forceDetachAfter : 0;
  const ownMs = goneMs + waitsMs + callDelayMs(scenario);
  if (also.kind === 'none' || isOverAtOnce(also.kind)) return ownMs;
  const alsoFrom = {
    ...{ terminating: 0, 'pod-gone': 0, 'half-wait': 0.5 },
    ...{ 'force-detach': 1, 'second-mount': 1, 'successor-ready': 1 },
  } as const;
  const alsoMs =
    typeof also.at === 'number' ? also.at : goneMs + alsoFrom[also.at] * timers.forceDetachAfter;
  return Math.max(ownMs, alsoMs + also.for);
}

/** Whether a call about a lost node, or about the next one, is never answered well before the heal. */
export function isStuck(scenario: Scenario, call: CallName): boolean {
  const { disk, fault, remedy, watch } = scenario;
  const rule = callRulesOf(disk.calls)[call];
  if (rule === undefined) return false;
  const { refusal, lateMs, times, when } = rule;
  const isEndless = refusal === undefined ? lateMs > watch.horizon : times === Infinity;
  // What holds of a node that is gone holds of the victim alone.
  const isMet = when === 'machine-gone' ? endsMachine(fault.kind) : remedy.kind === 'delete-node';
  return isEndless && (when === undefined || (call === 'unpublish' && isMet));
}

/** Tries, their time and the attacher's back-off between them; none of a call that is stuck. */
export const callDelayMs = (scenario: Scenario): number =>
  Object.values(callRulesOf(scenario.disk.calls)).reduce((sumMs, { refusal, lateMs, times }) => {
    if (refusal === undefined) return sumMs + (lateMs > scenario.watch.horizon ? 0 : lateMs);
    if (times === Infinity) return sumMs;
    const { firstUs, maxUs } = kubernetesTimes.attacherBackOff;
    const tryUs = refusal === 'never' ? kubernetesTimes.csiTimeoutUs : 0;
    return sumMs + (times * tryUs + Math.min(firstUs * 2 ** times, times * maxUs)) / msUs;
  }, 0);

const successorOf = (scenario: Scenario): Situation['successor'] => {
  if (isStuck(scenario, 'publish') || isStuck(scenario, 'stage')) return 'is kept out';
  return isStuck(scenario, 'nodePublish') ? 'may only mount' : 'may serve';
};

/** Whoever asks first does nothing to a machine that runs. */
const asActing = (scenario: Scenario): Scenario =>
  scenario.remedy.ifOff && !endsMachine(scenario.fault.kind)
    ? { ...scenario, remedy: { ...scenario.remedy, kind: 'none' } }
    : scenario;

export function situationOf(asked: Scenario): Situation {
  const scenario = asActing(asked);
  const { watch, load, also } = scenario;
  const disk = { ...scenario.disk, mode: modeInEffect(scenario) };
  const isSoon = handOverMs(scenario) + handOverSlackMs <= watch.horizon;
  // A detach that failed leaves it uncertain, too.
  const mayUnsettle = unsettlesAttachments(also.kind) || 'unpublish' in callRulesOf(disk.calls);
  const isUnsettled = mayUnsettle && disk.attachWhileBusy === 'granted';
  return {
    ...scenario,
    disk,
    victim: load.rate === 0 ? 'idle' : 'busy',
    cut: cutOf(scenario),
    release: volumeReleaseOf(scenario),
    selfFenced: selfFencedIn(scenario),
    watchEnds: isSoon ? 'after the hand-over' : 'perhaps before it',
    attachment: isUnsettled ? 'perhaps uncertain' : 'counted',
    successor: successorOf(scenario),
  };
}

function modeInEffect({ disk, fault }: Scenario): DiskMode {
  // A cut that leaves the node a way is none.
  const mode = revocationOf(disk).worth === 'fenced' ? disk.mode : 'unfenced';
  const isSilent = fault.link === 'stalls' && transportOf[disk.transport].fencesSilent === true;
  return isSilent && mode === 'unfenced' ? 'fenced' : mode;
}

function cutOf({ disk, watch }: Scenario): Situation['cut'] {
  if (disk.cutAfter <= soonestMountMs) return 'at once';
  if (disk.cutAfter <= latestMountMs) return 'soon';
  return disk.cutAfter <= watch.overlap ? 'before the heal' : 'late';
}

/** The sidecar's look, its kill and the remount, on a machine that keeps time. */
const selfFenceTakesMs = 2000;
const standStill: readonly FaultKind[] = ['freeze', 'cpu-starvation'];

/** The soonest that anything can let another node in, from the fault on. */
function givenUpMs({ timers, remedy, fault }: Scenario): number {
  const evictedMs = timers.grace + timers.toleration;
  if (remedy.kind !== 'none' && typeof remedy.at === 'number')
    return Math.min(remedy.at, evictedMs);
  // Of a node that is back now and then its Lease is renewed as often.
  const isSoon = remedy.at === 'not-ready' || fault.kind === 'flapping-partition';
  return isSoon ? timers.grace : evictedMs;
}

function selfFencedIn(scenario: Scenario): Situation['selfFenced'] {
  const { selfFence, fault } = scenario;
  const isAble = selfFence.kind !== 'off' && !standStill.includes(fault.kind);
  if (!isAble || fault.link !== 'survives') return 'no';
  const fencedMs = selfFence.after + selfFenceTakesMs;
  if (fencedMs <= givenUpMs(scenario)) return 'in time';
  return fencedMs <= handOverMs(scenario) + handOverSlackMs ? 'perhaps in time' : 'no';
}

/** Of a node that is cut off from its disk while its database acknowledges early. */
const unflushedAtCut =
  'a fence takes what the victim had acknowledged and not flushed, if there is any';

type OneOrMore<T> = T | readonly T[];

/** One reason why a verdict is no surprise. */
interface ExpectationReason {
  /** Each factor named has one of these values. */
  readonly when: { readonly [F in keyof Factors]?: OneOrMore<Factors[F]> } & {
    readonly [F in SettableName]?: OneOrMore<FieldValue<F>>;
  };
  /** All that it can come to. */
  readonly verdicts: readonly VerdictWord[];
  readonly because: string;
}

const comesTo =
  (...verdicts: ExpectationReason['verdicts']) =>
  (when: ExpectationReason['when'], because: string): ExpectationReason => ({
    ...{ when, verdicts, because },
  });
const safe = comesTo('safe');
/** Two nodes could write, and did: what it came to differs. */
const overlapping = ['exposed', 'lost', 'corrupt'] as const;
const overlap = comesTo(...overlapping);
/** Or nothing came of it. */
const race = comesTo('safe', ...overlapping);
const damage = comesTo('lost', 'corrupt');

// What takes the volume from a victim that Kubernetes no longer reaches. There are two gates: a successor's
// pod (with a StatefulSet only once the old object is gone), and the detach.

export type Release =
  /** The pod object stays: nothing is detached. */
  | 'kept by the pod'
  /** The node stays Ready, because somebody wrote to its Lease: it is not evicted, and no wait ends. */
  | 'kept by the lease'
  /** The pod is gone, and the controller manager waits for an unmount for ever. */
  | 'kept by the controller'
  /** The wait for an unmount is over. */
  | 'timeout'
  /** The out-of-service taint: there is no wait. */
  | 'taint'
  /** That taint, taken away before the pod GC must have seen it. */
  | 'untainted early'
  /** The paths were cut before the taint. */
  | 'fenced first'
  /** The machine was switched off before anything else. */
  | 'off first'
  /** The VolumeAttachment was deleted by hand, and the storage asked to detach. */
  | 'by hand'
  /** The storage was never asked, since the finalizer was stripped while no attacher ran; or it always refused. */
  | 'unasked'
  /** The same while one runs, which may have asked before the finalizer was gone. */
  | 'raced'
  /** The same while two pods want the volume, the old one and its replacement. */
  | 'contested'
  /** Nothing has to be detached before the next node may mount. */
  | 'not needed';

/** Faults that leave the victim's kubelet at work: no pod is evicted. */
const sparing = [...controlPlaneFaults, 'kubelet-restart', 'clock-step', 'none'] as const;
const isSparing = (fault: FaultKind): boolean => (sparing as readonly string[]).includes(fault);

/** The pod GC's look, and the removal itself. */
const podGcMs = kubernetesTimes.podGcUs / msUs + 2_000;

function volumeReleaseOf(scenario: Scenario): Release {
  const release = askedReleaseOf(scenario);
  const isAsked = ['timeout', 'taint', 'untainted early', 'by hand', 'raced'].includes(release);
  if (!isAsked || !isStuck(scenario, 'unpublish')) return release;
  const { disk, volume, kubernetes } = scenario;
  if (isDirectory(disk.mode) || volume.accessMode === 'ReadWriteMany') return release;
  // Before its patch 4 a detach that failed let no other node attach.
  return kubernetes.version.startsWith('1.28') ? 'kept by the controller' : 'unasked';
}

/** Where the driver does what it is asked. */
function askedReleaseOf(scenario: Scenario): Release {
  const { fault, remedy, also, timers, disk, volume } = scenario;
  const isGated = !isDirectory(disk.mode) && volume.accessMode !== 'ReadWriteMany';
  if (remedy.kind === 'fence-first') return 'fenced first';
  if (switchesOff(remedy.kind)) return 'off first';
  if (replacesAtOnce(scenario) && !isGated) return 'not needed';
  if (isGated && staysReady(scenario)) return 'kept by the lease';
  if (!podGoes(scenario) && !isGivenUp(scenario)) {
    const isContested =
      replacesAtOnce(scenario) && takesAttachment(remedy.kind) && !isSparing(fault.kind);
    return isContested ? 'contested' : 'kept by the pod';
  }
  if (taints(remedy.kind)) {
    const isEarly = typeof remedy.untaintAt === 'number' && remedy.untaintAt < podGcMs;
    return isEarly ? 'untainted early' : 'taint';
  }
  if (!isGated) return 'not needed';
  if (remedy.kind === 'strip-attachment-finalizer')
    return also.kind === 'attacher-down' ? 'unasked' : 'raced';
  if (takesAttachment(remedy.kind)) return 'by hand';
  return timers.forceDetach === 'on' ? 'timeout' : 'kept by the controller';
}

/** A renewal is up to a quarter of the lease old when the fault comes, and is seen a while later. */
const writtenInTimeShare = 0.7;

/**
 * A lost node is not given up once its Lease was written to in time. Then no unmount is waited for
 * in vain (reconciler.go: only where the node is not healthy); the operator may yet delete the Node, or
 * set the out-of-service taint where that takes the pod away at once.
 */
function staysReady(scenario: Scenario): boolean {
  const { also, fault, timers, remedy, workload } = scenario;
  if (also.kind !== 'lease-write' || !asksLeaseAgain(scenario.kubernetes)) return false;
  if (!silencesKubelet(fault.kind) || fault.kind === 'flapping-partition') return false;
  if (typeof also.at !== 'number' || also.at > timers.grace * writtenInTimeShare) return false;
  return remedy.kind !== 'delete-node' && !(taints(remedy.kind) && workload.terminationGrace === 0);
}

/** A Deployment's replacement comes with the eviction; a StatefulSet's name must be free first. */
const replacesAtOnce = ({ workload }: Scenario): boolean => workload.kind.startsWith('deployment');

/**
 * Terminating, a pod whose container was last reported as waiting pins nothing (util.IsPodTerminated);
 * only a Deployment has made another one by then that takes the volume.
 */
const isGivenUp = (scenario: Scenario): boolean =>
  scenario.fault.serverKills > 0 && replacesAtOnce(scenario);

/** A server needs a few seconds to end, and so does its volume. */
const drainTakesMs = 15_000;

/** Whether a drain has the time to end, before its node is shut down. */
const isDrained = ({ fault, workload }: Scenario): boolean =>
  fault.drainFor >= workload.preStop + drainTakesMs;

/** Whether the object of a pod goes away although its kubelet can't confirm that it has stopped. */
function podGoes(scenario: Scenario): boolean {
  const { fault, remedy, workload, kubernetes } = scenario;
  const isShutDown =
    fault.kind === 'node-shutdown' && (fault.shutdownGrace > 0 || isDrained(scenario));
  // Also the eviction of a pod without a grace period; what the kubelet ended may go.
  if (kubernetes.admission === 'fencing-proof') return isShutDown;
  // Marked as failed by the pod GC it wants no volume any more, but its name is still taken.
  if (workload.finalizer && taints(remedy.kind)) return replacesAtOnce(scenario);
  if (workload.finalizer) return remedy.kind === 'strip-pod-finalizer';
  // The kubelet ended it, and what is Failed is deleted without a grace period (pod/strategy.go).
  if (isShutDown) return true;
  // Without a grace period eviction itself is a forced deletion (#120671).
  if (workload.terminationGrace === 0) return true;
  return removesPodObject(remedy.kind);
}

// What Kubernetes lets happen to a volume, before the disk is asked.

const releaseRows: readonly ExpectationReason[] = [
  comesTo('safe', 'lost')(
    { successor: 'is kept out', 'database.trxCommit': [0, 2], victim: 'busy' },
    unflushedAtCut,
  ),
  safe(
    { successor: 'is kept out' },
    'the driver lets no other node attach or stage the volume: no second mount',
  ),
  comesTo('safe', 'lost')(
    { release: 'fenced first', 'database.trxCommit': [0, 2], victim: 'busy' },
    unflushedAtCut,
  ),
  safe(
    { release: 'fenced first' },
    'every path of the victim was cut before anything let a successor in',
  ),
  comesTo('safe', 'lost')(
    { release: 'off first', 'database.trxCommit': [0, 2], victim: 'busy' },
    'what the victim had acknowledged and not flushed goes with its power',
  ),
  safe({ release: 'off first' }, 'the victim was off before anything let a successor in'),
  race(
    { 'fault.kind': sparing, release: 'taint' },
    'the node is whole and unmounts, but the out-of-service taint does not wait until it has',
  ),
  race(
    { 'fault.kind': sparing, 'remedy.kind': 'delete-node' },
    'the node is whole and unmounts, but without its Node object it cannot report that to the ' +
      'forced detach',
  ),
  safe(
    { 'fault.kind': sparing },
    'the node is whole: its kubelet unmounts before the volume is detached',
  ),
  safe(
    { release: 'kept by the pod' },
    'the Terminating pod keeps its attachment and its name: no second pod, no second mount',
  ),
  safe(
    { release: 'kept by the lease' },
    'something wrote to its Lease: since 1.37 the node then counts as alive, no pod is evicted, and ' +
      'a volume in use on a healthy node stays attached',
  ),
  race(
    { attachment: 'perhaps uncertain', release: 'kept by the controller' },
    'no detach is forced, but a new leader or a detach that timed out may leave the ' +
      'attachment uncertain, and the storage lets the next node in',
  ),
  safe(
    { release: 'kept by the controller' },
    'with --disable-force-detach-on-timeout a volume in use stays attached: no second mount',
  ),
  safe(
    { release: 'unasked', 'disk.attachWhileBusy': 'refused' },
    'the storage does no detach, so it still counts the victim and refuses the next node',
  ),
  race(
    { release: 'contested' },
    'two pods wait for the volume, and the controller draws whose node gets it',
  ),
  safe(
    { selfFenced: 'in time', 'selfFence.kind': 'lease-read-only' },
    'the sidecar ended the database and took its file system away in time',
  ),
  race(
    { selfFenced: 'in time' },
    'the sidecar ended the database in time, but the node’s clean unmount may still write over ' +
      'the successor’s file system',
  ),
  race(
    { release: 'untainted early' },
    'the pod GC looks every 20 s: it may or may not see the taint before it is taken away again',
  ),
];

// Which disks keep a second writer out, once Kubernetes has let one in.

/** They cut at a detach, or a while after it: too late for a node that was let in before. */
const cuttingAtDetach = ['ack-early', 'fence-if-out-of-service', 'fenced'] as const;

const diskRows: readonly ExpectationReason[] = [
  safe(
    { 'disk.mode': 'shared-file', 'disk.fileLocks': 'shared' },
    'nothing is attached, the successor mounts at once, and its server waits for the lock',
  ),
  overlap(
    { 'disk.mode': 'shared-file' },
    'each node has locks of its own: two servers open the same files',
  ),
  comesTo('safe', 'lost')(
    {
      'disk.mode': ['fenced', 'reservation'],
      'volume.accessMode': ['ReadWriteOnce', 'ReadWriteOncePod'],
      'database.trxCommit': [0, 2],
      victim: 'busy',
      attachment: 'counted',
      release: ['timeout', 'taint', 'by hand'],
      'fault.link': 'survives',
    },
    unflushedAtCut,
  ),
  safe(
    { 'disk.mode': 'reservation' },
    'the successor’s staging pre-empts the victim, and its held writes are refused',
  ),
  safe(
    { 'disk.mode': 'exclusive', 'disk.watcherCheck': 'missing' },
    'without an answer about watchers the staging fails: no second mount, no service',
  ),
  safe(
    { 'disk.mode': 'exclusive', 'fault.link': 'survives' },
    'the victim still watches the image: the staging is refused until it has unmounted',
  ),
  overlap(
    { release: 'unasked', 'disk.mode': cuttingAtDetach },
    'the storage does no detach, so it cuts no node off and lets the next one in',
  ),
  race(
    { release: 'raced', 'disk.attachWhileBusy': 'granted', 'disk.mode': cuttingAtDetach },
    'whether the storage was asked to detach, and cut the victim off, before the finalizer was ' +
      'gone is chance; the next node is let in either way',
  ),
  race(
    { attachment: 'perhaps uncertain', 'disk.mode': cuttingAtDetach },
    'a new leader or a detach that timed out may leave the attachment uncertain: the storage ' +
      'lets the next node in before it is asked to cut the victim off',
  ),
  safe(
    { 'disk.mode': 'pending-while-busy', 'disk.attachWhileBusy': 'refused' },
    'neither detach nor attach elsewhere is granted while the victim has it mounted',
  ),
  safe(
    { 'disk.mode': 'fence-if-out-of-service', release: 'taint' },
    'the taint is there, so the detach cuts the victim off before it answers',
  ),
  safe(
    { 'disk.mode': 'fenced', 'volume.accessMode': ['ReadWriteOnce', 'ReadWriteOncePod'] },
    'the detach comes before the attach and cuts the victim off; held writes are refused',
  ),
  race(
    {
      'disk.mode': 'fenced',
      'volume.accessMode': 'ReadWriteMany',
      'fault.link': ['stalls', 'errors'],
    },
    'the victim’s path is down, so two write only if it is healed before the detach cuts the victim off',
  ),
  safe(
    { 'disk.mode': 'fenced', release: 'taint' },
    'the detach does not wait, and cuts the victim off long before a mount is ready',
  ),
  safe(
    {
      'disk.mode': 'ack-early',
      'volume.accessMode': ['ReadWriteOnce', 'ReadWriteOncePod'],
      cut: 'at once',
    },
    'the cut comes before the successor can have mounted',
  ),
  safe(
    {
      'disk.mode': 'ack-early',
      'volume.accessMode': ['ReadWriteOnce', 'ReadWriteOncePod'],
      cut: ['soon', 'before the heal'],
      'fault.link': ['stalls', 'errors'],
    },
    'nothing of the victim arrives until it is cut off, and its held writes are refused',
  ),
];

// What two writers of one disk come to, where nothing kept the second one out.

const overlapRows: readonly ExpectationReason[] = [
  race(
    { successor: 'may only mount' },
    'the next node checks and mounts the file system, and no server starts there',
  ),
  race(
    { 'fault.kind': 'freeze', 'volume.filesystem': 'ext4-mmp' },
    'a frozen container’s kernel still renews the multiple mount protection block; a machine ' +
      'that stands still does not',
  ),
  race(
    { 'fault.kind': 'cpu-starvation' },
    'a starved kubelet may be Ready and unmount in time, or be given up while its database writes',
  ),
  race(
    { 'fault.kind': 'flapping-partition' },
    'a node that is Ready when the wait is over is left to unmount, one that is off is not',
  ),
  comesTo('safe', 'exposed')(
    { 'volume.filesystem': 'ext4-mmp', 'fault.link': 'survives' },
    'the victim renews its multiple mount protection block: the second mount is refused, though ' +
      'its node has the volume',
  ),
  race(
    { release: 'raced' },
    'the attacher acts within a tenth of a second of the deletion: whether the storage was asked ' +
      'to detach before the finalizer was gone is chance',
  ),
  overlap(
    { 'fault.link': 'errors' },
    'the victim’s server dies of I/O errors, yet its file system is still mounted when the path ' +
      'is healed: what it writes until its unmount decides',
  ),
  race(
    {
      'disk.mode': 'ack-early',
      release: 'taint',
      cut: ['at once', 'soon', 'before the heal'],
      'fault.link': 'survives',
    },
    'both write until the late cut, unless the new pod’s kubelet waits out its status period ' +
      'of 10 s before it mounts',
  ),
  race(
    { 'disk.mode': 'ack-early', cut: 'soon', 'fault.link': 'survives' },
    'the cut and the successor’s first write come within the same seconds',
  ),
  overlap(
    {
      'disk.mode': 'ack-early',
      cut: ['at once', 'before the heal'],
      'fault.link': 'survives',
    },
    'both write until the late cut',
  ),
  overlap(
    { victim: 'idle' },
    'both could write; an idle victim has few dirty pages, and may do no harm',
  ),
  overlap(
    { 'fault.link': 'stalls' },
    'the victim’s held writes are replayed over the successor’s at the heal',
  ),
  overlap(
    { 'volume.accessMode': 'ReadWriteMany' },
    'declared ReadWriteMany, the volume is attached elsewhere before it is detached',
  ),
  overlap(
    { 'fault.kind': 'freeze' },
    'thawed after the hand-over, the victim writes what it had in its caches',
  ),
  overlap({}, 'the victim writes on while the successor writes'),
];

// A race is expected to come to what it came to before. An expectation can fail, or it is none: what was
// counted too rarely, or may come to anything, is open.

/** Fewest events: a verdict never seen in them may still come in a third (Wilson, 0 of 8: 32 %). */
export const leastEvents = 8;

export const eventsIn = (counts: Counts): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

/** What a race came to, each word and how often, the worst first. */
export const wordsWorstFirst = (
  counts: Counts,
): { readonly word: Safety; readonly count: number }[] =>
  safetyLevels.toReversed().flatMap((word) => {
    const count = counts[word];
    return count === undefined ? [] : [{ word, count }];
  });

/** `counts`: of a race, all fault events of this scenario before; they are not asked for otherwise. */
export function expectedOf(
  scenario: Scenario,
  counts: (scenario: Scenario) => Counts,
): Pick<Scenario, 'expected' | 'counted'> {
  const { verdicts, isRace } = expectationOf(scenario);
  if (!isRace) return { expected: [...verdicts] };
  const counted = counts(scenario);
  const seen = safetyLevels.filter((level) => counted[level] !== undefined);
  return { expected: eventsIn(counted) < leastEvents ? [...verdicts] : seen, counted };
}

/** Whether nothing that reasoning allows could be a surprise. */
export function isOpen({ expected, counted }: Pick<Scenario, 'expected' | 'counted'>): boolean {
  if (safetyLevels.every((level) => expected.includes(level))) return true;
  return counted !== undefined && eventsIn(counted) < leastEvents;
}

// Which verdicts are no surprise, and why: of the reasons the first that fits. Predicted from Kubernetes'
// source and from the database on such disks; real runs are held against them (test/full,
// docs/reference/disk-modes.md).

/** The node lives on: what the successor gets, and whether the victim's writes still arrive. */
const partitionRows: readonly ExpectationReason[] = [...releaseRows, ...diskRows, ...overlapRows];

const fits = ({ when }: ExpectationReason, situation: Situation): boolean =>
  Object.entries(when).every(([factor, values]) =>
    [values as unknown]
      .flat()
      .includes(valueAt(situation, factor as FieldName) ?? situation[factor as keyof Situation]),
  );

/** The last row fits everything. */
export function firstThat<Row>(rows: readonly Row[], isIt: (row: Row) => boolean): Row {
  const row = rows.find(isIt);
  if (row === undefined) throw new Error('the last row fits everything');
  return row;
}

interface Expectation {
  /** All that reasoning allows. */
  readonly verdicts: readonly VerdictWord[];
  /** They are of more than one grade, so that chance decides among them: see `expectedOf`. */
  readonly isRace: boolean;
  readonly because: string;
}

/** `lost` or `corrupt` is a matter of which page was hit: damage is one grade. */
const gradesIn = (verdicts: readonly VerdictWord[]): number =>
  new Set(verdicts.map((word) => (word === 'corrupt' ? 'lost' : word))).size;

export function expectationOf(scenario: Scenario): Expectation {
  const { expected } = databaseKindNamed(scenario.database.kind);
  if (expected !== undefined) {
    const { verdict, because } = expected;
    return { verdicts: [verdict], because, isRace: false };
  }
  const situation = situationOf(scenario);
  const rows = endsMachine(scenario.fault.kind) ? crashRows : partitionRows;
  const row = firstThat(rows, (each) => fits(each, situation));
  const own = endsMachine(scenario.fault.kind) ? row : asTimed(row, situation);
  const { verdicts, because } = asStruckAgain(own, scenario);
  return { verdicts, because, isRace: gradesIn(verdicts) > 1 };
}

/** Its successor is a victim itself, which no remedy is for; what two nodes have done by then stays done. */
function asStruckAgain(
  own: Pick<ExpectationReason, 'verdicts' | 'because'>,
  scenario: Scenario,
): Pick<ExpectationReason, 'verdicts' | 'because'> {
  const { fault, also, remedy } = scenario;
  if (!strikesNode(scenario) || also.on !== 'successor') return own;
  const { verdicts } = expectationOf({
    ...{ ...scenario, fault: { ...fault, kind: also.kind }, also: { ...also, kind: 'none' } },
    remedy: { ...remedy, kind: 'none' },
  });
  const isDone =
    (also.at === 'second-mount' || also.at === 'successor-ready') && !own.verdicts.includes('safe');
  const others = verdicts.filter((word) => !own.verdicts.includes(word));
  const added = isDone ? others.filter((word) => word !== 'safe') : others;
  return added.length === 0
    ? own
    : {
        verdicts: [...own.verdicts, ...added],
        because: `${own.because}; but the successor’s node is struck as well`,
      };
}

/** A watch that may end before the hand-over may see none, and a sidecar may be the first. */
function asTimed(row: ExpectationReason, { watchEnds, selfFenced }: Situation): ExpectationReason {
  const buts = [
    ...(watchEnds === 'perhaps before it' ? ['the watch may end before the hand-over'] : []),
    ...(selfFenced === 'perhaps in time' ? ['the sidecar may be in time'] : []),
  ];
  return buts.length === 0 || row.verdicts.includes('safe')
    ? row
    : {
        ...row,
        verdicts: ['safe', ...row.verdicts],
        because: [row.because, ...buts].join('; but '),
      };
}

/** Which verdicts of a crash are no surprise, and why; in the order in which the reasons hold. */
const early = 'the database acknowledges before the log is on disk';

/** The node is dead at once: only what it had not given to the disk, or the disk lost, can be gone. */
const crashRows: readonly ExpectationReason[] = [
  safe(
    { 'fault.kind': 'node-shutdown' },
    'the database stops in order, the machine unmounts before it is off, and then it writes no more',
  ),
  damage(
    { 'disk.flushes': 'ignored', 'fault.powerLoss': ['drops', 'reorders', 'tears'] },
    'the disk acknowledged flushes and lost what they were to make durable',
  ),
  comesTo(
    'safe',
    'lost',
    'corrupt',
  )(
    { 'database.trxCommit': [0, 2], victim: 'busy', 'fault.powerLoss': 'tears' },
    `${early}, and a page may be torn`,
  ),
  comesTo('safe', 'lost')(
    { 'database.trxCommit': [0, 2], victim: 'busy' },
    `${early}: a crash takes the tail, if there is one`,
  ),
  // InnoDB with O_DIRECT, its default (Double_write::is_fsync_required of buf0dblwr.cc).
  comesTo('safe', 'corrupt')(
    { 'fault.powerLoss': 'tears' },
    'the database need not flush its spare copy of a page before it writes the page: both may ' +
      'be lost together',
  ),
  safe(
    { 'disk.flushes': 'ignored', 'fault.powerLoss': 'keeps' },
    'the crash took nothing that the storage had, and a dead node writes no more',
  ),
  safe({}, 'an acknowledged commit was flushed, and a dead node writes no more'),
];
