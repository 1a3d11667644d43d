/**
 * Whether somebody must serve after the heal: the second part of what a scenario expects, of the
 * reasons the first that fits. It is asked of whole disks only: what damage does to a server is chance.
 */
import { csiCalls, type CallName, kubernetesTimes, msUs } from '../../core/index.ts';
import {
  callRulesOf,
  isDirectory,
  endsMachine,
  silencesKubelet,
  takesAttachment,
  taints,
  unsettlesAttachments,
  type FaultKind,
  type Scenario,
  type servingWords,
} from '../../scenario/index.ts';
import { callDelayMs, firstThat, isOpen, isStuck, situationOf } from './expectations.ts';
import type { Verdict } from '../verdict/verdict.ts';

/** `open`: a race, or something that no commit can prove. */
export type ServingWord = (typeof servingWords)[number];

export interface ServingExpectation {
  readonly expected: ServingWord;
  readonly because: string;
}

/** The longest wait before the csi-attacher, or a kubelet for a crashed container, tries again. */
const longestRetryMs =
  Math.max(kubernetesTimes.attacherBackOff.maxUs, kubernetesTimes.crashBackOffMaxUs) / msUs;
/** What a kubelet that is back needs to stop, unmount, mount and start. */
const takeoverMs = 60_000;
/** Until a kubelet that was off the network is back (lib/sim/timings.ts, reconnectLate). */
const reconnectMs = 55_500;

const cutsNetwork: readonly FaultKind[] = [
  'network-partition',
  'api-partition',
  'flapping-partition',
];

type Outlook = ReturnType<typeof outlookOf>;

/** A scenario with what decides who can serve. */
function outlookOf(scenario: Scenario) {
  const situation = situationOf(scenario);
  const { fault, remedy, workload, watch, release, watchEnds } = situation;
  const staysPut = release.startsWith('kept by');
  const isSilent = silencesKubelet(fault.kind);
  const isLeftWaiting = watchEnds === 'perhaps before it';
  return {
    ...{ ...situation, staysPut, isLeftWaiting },
    /** The volume goes to another node while a victim that nothing reaches has it mounted. */
    isTakenFromLiving:
      !staysPut &&
      release !== 'off first' &&
      !endsMachine(fault.kind) &&
      (isSilent || fault.kind === 'cpu-starvation'),
    /** Until it is evicted, whatever the operator does. */
    isLostForLong:
      isSilent &&
      !['flapping-partition', 'node-reboot'].includes(fault.kind) &&
      release !== 'kept by the lease',
    stuckCalls: (Object.keys(csiCalls) as CallName[]).filter((call) => isStuck(situation, call)),
    callsEndMs: 2 * callDelayMs(scenario),
    mayCallsHeal: Object.values(callRulesOf(scenario.disk.calls)).some(({ when }) => when),
    triesTooLate: watch.converge < longestRetryMs + takeoverMs,
    keepsItsName:
      workload.finalizer && !(remedy.kind === 'strip-pod-finalizer' && remedy.at === 'terminating'),
    /** What the taint keeps away is given back before another node has the volume, or may be. */
    untaintsEarly:
      taints(remedy.kind) &&
      (typeof remedy.untaintAt === 'number' || (remedy.untaintAt === 'heal' && isLeftWaiting)),
    refusesWhileBusy: refusesWhileBusy(scenario),
  };
}

/** Before its patch 4, 1.28 lets no other node attach after a detach that failed. */
const refusesWhileBusy = ({ disk, volume, kubernetes }: Scenario): boolean =>
  (disk.mode === 'pending-while-busy' &&
    (disk.attachWhileBusy === 'refused' || kubernetes.version.startsWith('1.28'))) ||
  disk.mode === 'exclusive' ||
  (isDirectory(disk.mode) && disk.fileLocks === 'shared') ||
  volume.filesystem === 'ext4-mmp';

interface ServingReason extends ServingExpectation {
  readonly when: (outlook: Outlook) => boolean;
}
const row =
  (expected: ServingWord) =>
  (when: ServingReason['when'], because: string): ServingReason => ({ when, expected, because });
const open = row('open');
const no = row('no');

/** The next node cannot do without them. */
const ofSuccessor: readonly CallName[] = ['publish', 'stage', 'nodePublish'];

const rows: readonly ServingReason[] = [
  open(({ load }) => load.rate === 0, 'an idle workload commits nothing that could prove it'),
  open(
    ({ remedy }) => remedy.moveBack,
    'only the victim is left, where the remedy, a path that was cut or the mount from before may ' +
      'keep the database down',
  ),
  no(
    ({ stuckCalls, disk, isLostForLong, staysPut, isLeftWaiting, fault, mayCallsHeal }) =>
      (stuckCalls.some((call) => ofSuccessor.includes(call)) ||
        (stuckCalls.includes('unpublish') && disk.attachWhileBusy === 'refused')) &&
      (isLostForLong || (fault.kind === 'node-crash' && !fault.reboot)) &&
      !(staysPut || isLeftWaiting || mayCallsHeal),
    'the next node has the pod, and the driver never does what it needs for the volume',
  ),
  no(
    ({ stuckCalls, remedy, staysPut }) =>
      remedy.kind === 'drain' &&
      staysPut &&
      stuckCalls.some((call) => ['unstage', 'nodeUnpublish'].includes(call)),
    'the drained node never unmounts the volume, and takes no pod',
  ),
  open(
    ({ stuckCalls, mayCallsHeal, callsEndMs, watch }) =>
      stuckCalls.length > 0 || mayCallsHeal || watch.converge < takeoverMs + callsEndMs,
    'where the pod is decides whether it needs a call that fails or lasts',
  ),
  no(
    ({ release, disk, remedy }) =>
      release === 'unasked' && disk.attachWhileBusy === 'refused' && typeof remedy.at !== 'number',
    'the storage was never asked to detach, and refuses every other node',
  ),
  no(
    ({ fault, staysPut }) => fault.kind === 'node-crash' && !fault.reboot && staysPut,
    'the node stays down, and the volume with it',
  ),
  no(
    ({ disk, fault, release, isLostForLong, staysPut, isLeftWaiting }) =>
      disk.watcherCheck === 'missing' &&
      (endsMachine(fault.kind) || (isLostForLong && release !== 'contested')) &&
      !(staysPut || isLeftWaiting),
    'without an answer about watchers no node may stage the volume again',
  ),
  open(
    ({ disk }) => disk.watcherCheck === 'missing',
    'a database that stays where it is serves on; a volume that moves is staged nowhere',
  ),
  no(
    ({ keepsItsName, isLostForLong, isLeftWaiting, remedy, workload }) =>
      keepsItsName &&
      remedy.kind !== 'strip-pod-finalizer' &&
      isLostForLong &&
      !isLeftWaiting &&
      workload.kind.startsWith('stateful'),
    'the evicted pod keeps its name for as long as its finalizer stays',
  ),
  open(
    ({ keepsItsName }) => keepsItsName,
    'a pod that was deleted stays for as long as its finalizer does',
  ),
  open(
    ({ release }) => release === 'raced',
    'whether the storage was asked to detach before the finalizer was gone is chance',
  ),
  open(
    ({ remedy, staysPut }) => takesAttachment(remedy.kind) && staysPut,
    'the detach by hand may cut off a database that stays',
  ),
  open(
    ({ release }) => release === 'contested',
    'two pods wait for the volume: the controller draws whose node gets it',
  ),
  open(
    ({ untaintsEarly }) => untaintsEarly,
    'a taint that is taken away again may leave the old pod on a path that was cut',
  ),
  open(
    ({ remedy, fault, timers, also, isLeftWaiting }) =>
      remedy.kind === 'delete-node' &&
      (isLeftWaiting ||
        fault.kind === 'flapping-partition' ||
        timers.forceDetach === 'off' ||
        unsettlesAttachments(also.kind)),
    'a kubelet whose Node object is gone cannot report its unmount: the next node waits for the ' +
      'forced detach, which may come after the bound or never',
  ),
  open(
    ({ watch, fault }) =>
      watch.converge < takeoverMs + (cutsNetwork.includes(fault.kind) ? reconnectMs : 0),
    'the bound is shorter than a takeover',
  ),
  open(
    ({ remedy, isTakenFromLiving, refusesWhileBusy: refuses }) =>
      isTakenFromLiving && refuses && remedy.kind === 'delete-node',
    'the next node is refused until the victim has unmounted, and a kubelet whose Node object is ' +
      'gone does that once it is started again',
  ),
  open(
    ({ isTakenFromLiving, refusesWhileBusy: refuses, triesTooLate }) =>
      isTakenFromLiving && refuses && triesTooLate,
    'what was refused while the victim had the volume is tried again after up to 5 min: whether ' +
      'that is within the bound is chance',
  ),
  open(
    ({ fault, triesTooLate }) => fault.serverKills > 0 && triesTooLate,
    'a container that was killed again and again is started after up to 5 min',
  ),
  open(
    ({ fault, staysPut, isLeftWaiting }) => fault.link === 'errors' && (staysPut || isLeftWaiting),
    'a file system that met I/O errors may stay shut until it is mounted anew',
  ),
  row('yes')(() => true, 'after the heal some node can mount the volume, and its database starts'),
];

/** What two could have written decides, or what is missing. */
const ofDamage = { expected: 'open', because: 'asked only where the verdict is safe' } as const;

export function servingExpectationOf(scenario: Scenario): ServingExpectation {
  if (scenario.expectedServing !== undefined)
    return { expected: scenario.expectedServing, because: 'the scenario says so' };
  const outlook = outlookOf(scenario);
  return firstThat(rows, ({ when }) => when(outlook));
}

interface ServingResult extends Pick<Verdict, 'verdict'> {
  /** Null where the result does not tell. */
  readonly served: boolean | null;
}

/** Both parts of an expectation, held against what came: of runs and of cells alike. */
export function judgeExpectation(
  scenario: Scenario,
  { verdict, served }: ServingResult,
): Pick<Verdict, 'asExpected' | 'open' | 'serving'> {
  const { expected, because } = verdict === 'safe' ? servingExpectationOf(scenario) : ofDamage;
  const asServed = expected === 'open' || served === null || served === (expected === 'yes');
  const fits = scenario.expected.includes(verdict) && asServed;
  const open = fits && verdict !== 'inconclusive' && isOpen(scenario);
  return {
    asExpected: fits && !open,
    ...(open ? { open } : {}),
    serving: { expected, because, served: served ?? false, asExpected: asServed },
  };
}
