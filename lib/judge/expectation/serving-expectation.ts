/**
 * Whether somebody must serve after the heal: the second part of what a scenario expects, of the
 * reasons the first that fits. It is asked of whole disks only: what damage does to a server is chance.
 */
import { kubernetesTimes, msUs } from '../../core/index.ts';
import {
  isDirectory,
  losesPower,
  silencesKubelet,
  takesAttachment,
  taints,
  unsettlesAttachments,
  type FaultKind,
  type Scenario,
  type servingWords,
} from '../../scenario/index.ts';
import { isOpen, situationOf, volumeReleaseOf, type Release } from './expectations.ts';
import type { Verdict } from '../verdict/verdict.ts';

/** `open`: a race, or something that no commit can prove. */
export type ServingWord = (typeof servingWords)[number];

export interface ServingExpectation {
  readonly expected: ServingWord;
  readonly because: string;
}

interface ServingReason extends ServingExpectation {
  readonly when: (scenario: Scenario) => boolean;
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

const keeping: readonly Release[] = [
  'kept by the pod',
  'kept by the lease',
  'kept by the controller',
];

/** Two pods wait for the volume: which node gets it first is drawn. */
const isDrawn = (scenario: Scenario): boolean => volumeReleaseOf(scenario) === 'contested';

const staysPut = (scenario: Scenario): boolean => keeping.includes(volumeReleaseOf(scenario));

const triesTooLate = ({ watch }: Scenario): boolean => watch.converge < longestRetryMs + takeoverMs;

/** The volume goes to another node while a victim that nobody reaches has it. */
const takenFromLiving = (scenario: Scenario): boolean =>
  !staysPut(scenario) &&
  !losesPower(scenario.fault.kind) &&
  (silencesKubelet(scenario.fault.kind) || scenario.fault.kind === 'cpu-starvation');

/** What the taint keeps away is given back before another node has the volume, or may be. */
const untaintsEarly = (scenario: Scenario): boolean => {
  const { kind, untaintAt } = scenario.remedy;
  return (
    taints(kind) &&
    (typeof untaintAt === 'number' || (untaintAt === 'heal' && isLeftWaiting(scenario)))
  );
};

/** Before its patch 4, 1.28 lets no other node attach after a detach that failed. */
const refusesWhileBusy = ({ disk, volume, kubernetes }: Scenario): boolean =>
  (disk.mode === 'pending-while-busy' &&
    (disk.attachWhileBusy === 'refused' || kubernetes.version.startsWith('1.28'))) ||
  disk.mode === 'exclusive' ||
  (isDirectory(disk.mode) && disk.fileLocks === 'shared') ||
  volume.filesystem === 'ext4-mmp';

/** Until it is evicted, whatever the operator does. */
const isLostForLong = (scenario: Scenario): boolean =>
  silencesKubelet(scenario.fault.kind) &&
  scenario.fault.kind !== 'flapping-partition' &&
  scenario.fault.kind !== 'node-reboot' &&
  volumeReleaseOf(scenario) !== 'kept by the lease';

const keepsItsName = ({ workload, remedy }: Scenario): boolean =>
  workload.finalizer && !(remedy.kind === 'strip-pod-finalizer' && remedy.at === 'terminating');

/** The watch may be over before another node has the volume. */
const isLeftWaiting = (scenario: Scenario): boolean =>
  situationOf(scenario).watchEnds === 'perhaps before it';

const rows: readonly ServingReason[] = [
  {
    when: ({ load }) => load.rate === 0,
    expected: 'open',
    because: 'an idle workload commits nothing that could prove it',
  },
  {
    when: ({ remedy }) => remedy.moveBack,
    expected: 'open',
    because:
      'only the victim is left, where the remedy, a path that was cut or the mount from before may ' +
      'keep the database down',
  },
  {
    when: (scenario) =>
      volumeReleaseOf(scenario) === 'unasked' &&
      scenario.disk.attachWhileBusy === 'refused' &&
      typeof scenario.remedy.at !== 'number',
    expected: 'no',
    because: 'the storage was never asked to detach, and refuses every other node',
  },
  {
    when: (scenario) =>
      scenario.fault.kind === 'node-crash' && !scenario.fault.reboot && staysPut(scenario),
    expected: 'no',
    because: 'the node stays down, and the volume with it',
  },
  {
    when: (scenario) =>
      scenario.disk.watcherCheck === 'missing' &&
      (losesPower(scenario.fault.kind) || (isLostForLong(scenario) && !isDrawn(scenario))) &&
      !staysPut(scenario) &&
      !isLeftWaiting(scenario),
    expected: 'no',
    because: 'without an answer about watchers no node may stage the volume again',
  },
  {
    when: ({ disk }) => disk.watcherCheck === 'missing',
    expected: 'open',
    because: 'a database that stays where it is serves on; a volume that moves is staged nowhere',
  },
  {
    when: (scenario) =>
      keepsItsName(scenario) &&
      scenario.remedy.kind !== 'strip-pod-finalizer' &&
      isLostForLong(scenario) &&
      !isLeftWaiting(scenario) &&
      scenario.workload.kind.startsWith('stateful'),
    expected: 'no',
    because: 'the evicted pod keeps its name for as long as its finalizer stays',
  },
  {
    when: keepsItsName,
    expected: 'open',
    because: 'a pod that was deleted stays for as long as its finalizer does',
  },
  {
    when: (scenario) => volumeReleaseOf(scenario) === 'raced',
    expected: 'open',
    because: 'whether the storage was asked to detach before the finalizer was gone is chance',
  },
  {
    when: (scenario) => takesAttachment(scenario.remedy.kind) && staysPut(scenario),
    expected: 'open',
    because: 'the detach by hand may cut off a database that stays',
  },
  {
    when: isDrawn,
    expected: 'open',
    because: 'two pods wait for the volume: the controller draws whose node gets it',
  },
  {
    when: untaintsEarly,
    expected: 'open',
    because: 'a taint that is taken away again may leave the old pod on a path that was cut',
  },
  {
    when: (scenario) =>
      scenario.remedy.kind === 'delete-node' &&
      (isLeftWaiting(scenario) ||
        scenario.fault.kind === 'flapping-partition' ||
        scenario.timers.forceDetach === 'off' ||
        unsettlesAttachments(scenario.also.kind)),
    expected: 'open',
    because:
      'a kubelet whose Node object is gone cannot report its unmount: the next node waits for the ' +
      'forced detach, which may come after the bound or never',
  },
  {
    when: ({ watch, fault }) =>
      watch.converge < takeoverMs + (cutsNetwork.includes(fault.kind) ? reconnectMs : 0),
    expected: 'open',
    because: 'the bound is shorter than a takeover',
  },
  {
    when: (scenario) =>
      takenFromLiving(scenario) &&
      refusesWhileBusy(scenario) &&
      scenario.remedy.kind === 'delete-node',
    expected: 'open',
    because:
      'the next node is refused until the victim has unmounted, and a kubelet whose Node object is ' +
      'gone does that once it is started again',
  },
  {
    when: (scenario) =>
      takenFromLiving(scenario) && refusesWhileBusy(scenario) && triesTooLate(scenario),
    expected: 'open',
    because:
      'what was refused while the victim had the volume is tried again after up to 5 min: whether ' +
      'that is within the bound is chance',
  },
  {
    when: (scenario) => scenario.fault.serverKills > 0 && triesTooLate(scenario),
    expected: 'open',
    because: 'a container that was killed again and again is started after up to 5 min',
  },
  {
    when: (scenario) =>
      scenario.fault.link === 'errors' && (staysPut(scenario) || isLeftWaiting(scenario)),
    expected: 'open',
    because: 'a file system that met I/O errors may stay shut until it is mounted anew',
  },
  {
    when: () => true,
    expected: 'yes',
    because: 'after the heal some node can mount the volume, and its database starts',
  },
];

/** What two could have written decides, or what is missing. */
const ofDamage = { expected: 'open', because: 'asked only where the verdict is safe' } as const;

export function servingExpectationOf(scenario: Scenario): ServingExpectation {
  const row = rows.find(({ when }) => when(scenario));
  if (row === undefined) throw new Error('the last row fits everything');
  return scenario.expectedServing === undefined
    ? row
    : { expected: scenario.expectedServing, because: 'the scenario says so' };
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
