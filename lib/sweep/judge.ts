/** Which invariants a schedule broke, the licence that let it, and the paths and rows of the matrix that it shows. */
import {
  endsMachine,
  removesPod,
  switchesOff,
  type Scenario,
  isDirectory,
  faultDeclarations,
  faultNamed,
  remedyKinds,
  remedyNamed,
} from '../scenario/index.ts';
import type { Safety } from '../judge/index.ts';
import type { ScheduleOutcome } from './play.ts';
import { noticeNames, notices, type NoticeCode } from '../sim/index.ts';
import { factors, hasDefault } from './schedule.ts';

export const harms = ['corrupt', 'lost', 'exposed', 'stuck', 'not converged'] as const;
export type Harm = (typeof harms)[number];

export const safetyOf = (broken: readonly Harm[]): Safety =>
  (['corrupt', 'lost', 'exposed'] as const).find((harm) => broken.includes(harm)) ?? 'safe';

interface ScheduleJudgement {
  /** A run's verdict, but predicted. */
  readonly safety: Safety;
  /** In the order of `harms`; empty where every invariant held. */
  readonly broken: readonly Harm[];
  /** The decisions that let the second writer in. Findings with the same licence are one. */
  readonly licence: readonly string[];
  /** Names the finding: what the worst of it is, what let it happen, and on which disk. */
  readonly key: string;
}

export function judge(outcome: ScheduleOutcome): ScheduleJudgement {
  const { first, second, overlapUs, converged, stuck, scenario } = outcome;
  const holds: Readonly<Record<Harm, boolean>> = {
    corrupt: first.unreadable || second.unreadable,
    lost: first.lost + second.lost > 0,
    exposed: overlapUs > 0,
    stuck,
    'not converged': !converged,
  };
  const broken = harms.filter((harm) => holds[harm]);
  const licence = licenceOf(outcome);
  const where = [broken[0] ?? 'none', scenario.disk.mode, victimIs(scenario), ...waived(scenario)];
  return { safety: safetyOf(broken), broken, licence, key: [...where, ...licence].join(' | ') };
}

/** What of its promises the server or the disk does not keep anyway, or is not asked to. */
export const waived = ({ disk, database, volume, remedy }: Scenario): string[] => [
  ...(disk.flushes === 'honest' ? [] : ['flushes ignored']),
  ...(database.trxCommit === 1 ? [] : [`trx_commit ${database.trxCommit}`]),
  ...(volume.accessMode === 'ReadWriteMany' ? ['declared for many nodes'] : []),
  ...(remedy.kind === 'strip-attachment-finalizer' ? ['perhaps never asked to detach'] : []),
];

/** Dead, standing still, or alive: which zombie there may be. */
function victimIs({ fault, remedy }: Scenario): string {
  if (endsMachine(fault.kind) || switchesOff(remedy.kind)) return 'dead';
  if (fault.kind === 'freeze') return 'frozen';
  return fault.kind === 'none' && removesPod(remedy.kind) ? 'whole' : 'alive';
}

/** About the victim's node or pod, or about no node. */
const decisions: readonly NoticeCode[] = [
  notices.podStopped,
  notices.podTerminating,
  notices.podFailed,
  notices.podGone,
  notices.nodeDeleted,
  notices.controllerLeads,
  notices.kubeletRestarted,
  notices.mountForgotten,
  notices.forcedByTimeout,
  notices.forcedByTaint,
  notices.detachFailed,
  notices.attachmentMissed,
  notices.uncertain,
  notices.attachmentGone,
  notices.cut,
  notices.selfFenced,
];
const matters = noticeNames.map((_, code) => decisions.includes(code as NoticeCode));

/** Names of notices; empty where no other node mounted the volume while it was watched. */
function licenceOf({ trace, victim, faultAtUs, secondMountUs }: ScheduleOutcome): string[] {
  if (secondMountUs === undefined) return [];
  const { codes, nodes, timesUs } = trace;
  const seen = new Set<number>();
  codes.forEach((code, at) => {
    if (matters[code] !== true) return;
    const sinceUs = (timesUs[at] ?? 0) - faultAtUs;
    const node = nodes[at] ?? -1;
    if (sinceUs >= 0 && sinceUs <= secondMountUs && (node === victim || node === -1)) {
      seen.add(code);
    }
  });
  return decisions.filter((code) => seen.has(code)).map((code) => noticeNames[code] ?? '');
}

/**
 * A known way to damage that no single fault and remedy name (P1 to P5, the races of the Kubernetes
 * model), recognized by what a schedule showed, not by how it was drawn alone.
 */
interface KnownPath {
  readonly name: string;
  readonly what: string;
  readonly shows: (outcome: ScheduleOutcome) => boolean;
}

const isHarmed = ({ dualMount, overlapUs }: ScheduleOutcome): boolean => dualMount || overlapUs > 0;
/** And nobody did anything. */
const isUnaided = (outcome: ScheduleOutcome): boolean =>
  isHarmed(outcome) && outcome.scenario.remedy.kind === 'none';

/** When a notice first came after a time, about the victim's node, another one, or none. */
function firstUs(
  { trace, victim, faultAtUs }: ScheduleOutcome,
  notice: NoticeCode,
  about: 'victim' | 'other',
  afterUs = faultAtUs,
): number {
  const { codes, nodes, timesUs } = trace;
  for (let at = codes.indexOf(notice); at !== -1; at = codes.indexOf(notice, at + 1)) {
    const atUs = timesUs[at] ?? 0;
    if (atUs >= afterUs && (nodes[at] === victim) === (about === 'victim')) return atUs;
  }
  return Infinity;
}

const attachedElsewhereUs = (outcome: ScheduleOutcome): number =>
  firstUs(outcome, notices.attachmentAttached, 'other');

/** Only such a volume waits for a detach: else another node gets it whatever becomes of the first. */
const isForOne = ({
  scenario: {
    volume: { accessMode },
    disk: { mode: disk },
  },
}: ScheduleOutcome): boolean => accessMode !== 'ReadWriteMany' && !isDirectory(disk);

/**
 * The controller no longer counts the victim's attachment, since something happened, and another node
 * got the volume before anybody had taken it from the victim.
 */
function isUncertainSince(outcome: ScheduleOutcome, sinceUs: number): boolean {
  const uncertainUs = firstUs(outcome, notices.uncertain, 'victim', sinceUs);
  const attachedUs = attachedElsewhereUs(outcome);
  return (
    isForOne(outcome) &&
    uncertainUs < attachedUs &&
    attachedUs < firstUs(outcome, notices.attachmentGone, 'victim') &&
    attachedUs < firstUs(outcome, notices.forcedByTimeout, 'victim', uncertainUs)
  );
}

export const knownPaths: readonly KnownPath[] = [
  {
    name: 'P1',
    what: 'without a grace period eviction alone is a forced deletion',
    shows: (outcome) => isUnaided(outcome) && outcome.scenario.workload.terminationGrace === 0,
  },
  {
    name: 'P2',
    what: 'the container’s last report was that it waits, so that eviction frees the volume',
    shows: (outcome) =>
      isUnaided(outcome) &&
      !endsMachine(outcome.scenario.fault.kind) &&
      outcome.scenario.workload.terminationGrace > 0 &&
      isForOne(outcome) &&
      outcome.secondMountUs !== undefined,
  },
  {
    name: 'P3',
    what: 'declared for many nodes, the volume is attached elsewhere at the eviction',
    shows: (outcome) => isUnaided(outcome) && !isForOne(outcome),
  },
  {
    name: 'P4',
    what: 'a machine deletes the Node, as autoscalers do',
    shows: (outcome) => isHarmed(outcome) && outcome.scenario.remedy.kind === 'delete-node',
  },
  {
    name: 'P5',
    what: 'a detach failed, so that the attachment no longer counts and another node gets it',
    shows(outcome) {
      const beganUs = firstUs(outcome, notices.attachmentDeleting, 'victim');
      const failedUs = firstUs(outcome, notices.uncertain, 'victim', beganUs);
      const leadsUs = firstUs(outcome, notices.controllerLeads, 'other', beganUs);
      return isHarmed(outcome) && failedUs < leadsUs && isUncertainSince(outcome, beganUs);
    },
  },
  {
    name: 'R2',
    what: 'the pod is recreated on its node, on the previous pod’s mount',
    shows: (outcome) =>
      outcome.secondMountUs === undefined &&
      firstUs(outcome, notices.stageSkipped, 'victim') < Infinity,
  },
  {
    name: 'R6',
    what: 'attached to another node while the first detach is still being tried',
    shows: (outcome) =>
      isUncertainSince(outcome, firstUs(outcome, notices.attachmentDeleting, 'victim')),
  },
  {
    name: 'R7',
    what: 'the Node was deleted and the controller manager restarted: the wait is lost',
    shows(outcome) {
      const deletedUs = firstUs(outcome, notices.nodeDeleted, 'victim');
      const leadsUs = firstUs(outcome, notices.controllerLeads, 'other', deletedUs);
      return isHarmed(outcome) && isUncertainSince(outcome, leadsUs);
    },
  },
  {
    name: 'R8',
    what: 'back on the first node, the pod gets the mount that was made before the hand-over',
    shows: (outcome) =>
      firstUs(
        outcome,
        notices.staleMount,
        'victim',
        outcome.faultAtUs + (outcome.secondMountUs ?? Infinity),
      ) < Infinity,
  },
  {
    name: 'R10',
    what: 'the node stood still, and goes on after the hand-over with what it had in its caches',
    shows: (outcome) =>
      outcome.scenario.fault.kind === 'freeze' &&
      outcome.first.lost === 0 &&
      outcome.second.lost > 0,
  },
  {
    name: 'R11',
    what: 'the controller manager ended between delisting a volume and the end of its attachment',
    shows(outcome) {
      const unlistedUs = firstUs(outcome, notices.unlisted, 'victim');
      const endedUs = firstUs(outcome, notices.controllerEnded, 'other', unlistedUs);
      return isUncertainSince(outcome, firstUs(outcome, notices.controllerLeads, 'other', endedUs));
    },
  },
];

/** One fault, one remedy, an attachable volume for one node, a pod with a grace period. */
const isPlain = (scenario: Scenario): boolean =>
  !isDirectory(scenario.disk.mode) &&
  factors.every(({ asksNoRow, field }) => !asksNoRow || hasDefault(scenario, field));

const namesOf = <T extends { readonly name: string }>(
  all: readonly T[],
  has: (each: T) => unknown,
): readonly string[] => all.filter(has).map(({ name }) => name);

const faultsOfVictims = faultDeclarations
  .map(({ name }) => faultNamed(name))
  .filter(({ breaks, isOfControlPlane }) => breaks !== 'nothing' && !isOfControlPlane);
const deadFaults = namesOf(faultsOfVictims, ({ endsMachine }) => endsMachine);
/** Silent until the heal, and alive. */
const liveFaults = namesOf(
  faultsOfVictims,
  ({ silencesKubelet, endsMachine, turns }) =>
    silencesKubelet && !endsMachine && turns === undefined,
);
/** Heard now and then. */
const shaky = namesOf(
  faultsOfVictims,
  ({ name }) => !deadFaults.includes(name) && !liveFaults.includes(name),
);
/** Those that need no other pod, and leave attachment and disk alone. */
const plainRemedies = remedyKinds
  .map(remedyNamed)
  .filter(({ on, changes }) => changes === undefined && !['attachment', 'path'].includes(on));
const switching = namesOf(plainRemedies, ({ endsMachine }) => endsMachine);
const removing = namesOf(
  plainRemedies,
  ({ name, removesPodObject }) => removesPodObject && !switching.includes(name),
);
const leaving = namesOf(plainRemedies, ({ removesPodObject }) => !removesPodObject);
const alsos = ['controller-restart', 'api-outage'];
const partition = ['network-partition'];

const nameOf = (fault: string, also: string, remedy: string): string =>
  `${fault}${also === 'none' ? '' : ` and ${also}`}, ${remedy}`;

/**
 * The rows of the outcome matrix that a sweep must find or must not refute: does another node mount
 * the volume while the first writer lives? A row is asked of schedules in which nothing else happens.
 */
export const rows = (
  [
    ['yes', liveFaults, ['none'], removing],
    ['no', liveFaults, ['none'], leaving],
    ['no', liveFaults, ['none'], switching],
    ['no', deadFaults, ['none'], [...removing, ...leaving, ...switching]],
    ['no', shaky, ['none'], leaving],
    ['yes', partition, alsos, removing],
    ['no', partition, alsos, leaving],
  ] as const
).flatMap(([expect, faults, others, remedies]) =>
  faults.flatMap((fault) =>
    others.flatMap((also) =>
      remedies.map((remedy) => ({ name: nameOf(fault, also, remedy), expect })),
    ),
  ),
);

const known = new Set(rows.map(({ name }) => name));

/** The row that a scenario asks; undefined where it asks none. */
export function pathRowOf(scenario: Scenario): string | undefined {
  const name = nameOf(scenario.fault.kind, scenario.also.kind, scenario.remedy.kind);
  return known.has(name) && isPlain(scenario) ? name : undefined;
}

/** Whether the first writer lived when the second came. */
export const answersYes = ({ dualMount, scenario }: ScheduleOutcome): boolean =>
  dualMount && !endsMachine(scenario.fault.kind) && !switchesOff(scenario.remedy.kind);
