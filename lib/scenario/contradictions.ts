/** Fields of a scenario that don't fit together: a run of such a one would answer another question. */
import { formatDuration } from '../core/index.ts';
import { databaseDeclarations } from './databases/index.ts';
import { callRulesOf } from './disks/calls.ts';
import { diskModeDeclarations, isDirectory } from './disks/index.ts';
import {
  type FaultKind,
  faultDeclarations,
  losesPower,
  sparesVictim,
  strikesNode,
} from './faults/index.ts';
import { actsOn, emptiesOthers, remedyDeclarations, removesPod } from './remedies/index.ts';
import type { KindDeclaration } from './kinds.ts';
import { hangsWhenCut, transportDeclarations } from './transports/index.ts';
import {
  doesNothing,
  fieldNames,
  fields,
  goesWith,
  headBeside,
  kindsInWords,
  misplacedIn,
  placeOf,
  readerOf,
  settableNames,
  valueAt,
  type FieldName,
  type Scenario,
  type SettableName,
  type Settings,
} from './fields.ts';

export interface Contradiction {
  readonly field: FieldName;
  /** What is wrong and what would be right. */
  readonly message: string;
}

interface ContradictionRule extends Contradiction {
  readonly broken: (scenario: Scenario) => boolean;
}

type Reading<T> = (scenario: Settings) => T;

function hasStock(field: FieldName): Reading<boolean> {
  const value = readerOf(field);
  const { stock } = fields[field];
  return (scenario) => value(scenario) === stock;
}

/** Refuses a field that does something with some kinds only: with another one a changed value is a wish. */
const kindRules: readonly ContradictionRule[] = fieldNames.flatMap((field) => {
  const { of, isHarmless } = fields[field];
  const head = headBeside(field);
  if (of === undefined || isHarmless === true || head === undefined) return [];
  const kinds = new Set<unknown>(of);
  const [isUnchanged, kindIn] = [hasStock(field), readerOf(head)];
  return {
    field,
    message: kindsInWords(field) ?? '',
    broken: (scenario) => !isUnchanged(scenario) && !kinds.has(kindIn(scenario)),
  };
});

/** What a kind asks of a scenario that chooses it. */
interface ChosenKind {
  /** Fields that it leaves no choice, and why. */
  readonly kept: Readonly<Record<string, string>>;
  /** Values of fields that go with it. Absent: any does. */
  readonly takes: Readonly<Record<string, readonly string[]>>;
  /** Rules that it says itself. */
  readonly rules: readonly ContradictionRule[];
}

function chosenKind(head: SettableName, kind: KindDeclaration): ChosenKind {
  const { name, changes = {}, takes = {}, refuses = {} } = kind;
  const kept = keptBy(kind, head);
  const ownRules = [
    ...Object.entries(kept).map(([field, why]): ContradictionRule => {
      const isUnchanged = hasStock(field as FieldName);
      return {
        field: field as FieldName,
        message: `not with ${placeOf(head)} ${name}: ${why}`,
        broken: (scenario) => !isUnchanged(scenario),
      };
    }),
    ...Object.entries(changes).map(
      ([field, message]): ContradictionRule => ({
        field: head,
        message,
        broken: hasStock(field as FieldName),
      }),
    ),
    ...Object.entries(takes).map(
      ([field, words]): ContradictionRule => ({
        field: field as FieldName,
        message: `with ${placeOf(head)} ${name}: Allowed choices are ${words.join(', ')}.`,
        broken: (scenario) => !words.some((word) => word === valueAt(scenario, field as FieldName)),
      }),
    ),
  ];
  const refused = Object.entries(refuses).flatMap(([field, words]) =>
    Object.entries(words).flatMap(([word, why]) =>
      // A fault is refused on whichever node.
      (field === 'fault.kind' ? [field, 'also.kind'] : [field]).map(
        (each): ContradictionRule => ({
          field: each as FieldName,
          message: `${word} is refused with ${placeOf(head)} ${name}: ${why}`,
          broken: (scenario) => valueAt(scenario, each as FieldName) === word,
        }),
      ),
    ),
  );
  return { kept, takes, rules: [...ownRules, ...refused] };
}

function keptBy(
  { keeps = {}, only, fields: own = {} }: KindDeclaration,
  head: SettableName,
): ChosenKind['kept'] {
  const group = head.split('.')[0] ?? '';
  const ownNames = Object.keys(own).map((key) => `${group}.${key}`);
  const free = new Set<string>([head, ...(only?.fields ?? []), ...ownNames]);
  const others = only === undefined ? [] : settableNames.filter((name) => !free.has(name));
  return { ...Object.fromEntries(others.map((name) => [name, only?.because ?? ''])), ...keeps };
}

const kindsOf = (
  head: SettableName,
  kinds: readonly KindDeclaration[],
): readonly [Reading<unknown>, ReadonlyMap<unknown, ChosenKind>] => [
  readerOf(head),
  new Map(kinds.map((kind) => [kind.name, chosenKind(head, kind)])),
];

/** With how a scenario's choice is read. */
const allKinds = [
  kindsOf('fault.kind', faultDeclarations),
  kindsOf('remedy.kind', remedyDeclarations),
  kindsOf('disk.mode', diskModeDeclarations),
  kindsOf('disk.transport', transportDeclarations),
  kindsOf('database.kind', databaseDeclarations),
];

/** Those that a scenario names: no others have rules for it. */
const chosenIn = (scenario: Settings): ChosenKind[] =>
  allKinds.flatMap(([head, kinds]) => kinds.get(head(scenario)) ?? []);

/** Whether a kind that is chosen leaves a field no choice. */
export const isKept = (scenario: Settings, field: FieldName): boolean =>
  chosenIn(scenario).some(({ kept }) => field in kept);

/** Values that a kind which is chosen leaves; undefined where any goes with it. */
export const takenOf = (scenario: Settings, field: FieldName): readonly string[] | undefined =>
  chosenIn(scenario).find(({ takes }) => takes[field] !== undefined)?.takes[field];

/** Kubelet and containerd of the victim run. */
const agentsRun: ReadonlySet<FaultKind> = new Set<FaultKind>([
  ...(['network-partition', 'api-partition', 'flapping-partition'] as const),
  ...(['cpu-starvation', 'none'] as const),
]);
const agentFaults: ReadonlySet<FaultKind> = new Set<FaultKind>([
  ...(['kubelet-stall', 'runtime-stall', 'containerd-stall', 'kubelet-restart'] as const),
]);

const rules: readonly ContradictionRule[] = [
  ...kindRules,
  {
    field: 'diskFrom',
    message: 'its certificate shows another disk than `disk`',
    broken: ({ disk, diskFrom }) => diskFrom !== undefined && !diskFrom.modes.includes(disk.mode),
  },
  ...transportDeclarations.map(({ name, revocations }): ContradictionRule => {
    const ways = Object.keys(revocations);
    return {
      field: 'disk.revocation',
      message: `with disk.transport ${name}: Allowed choices are ${ways.join(', ')}.`,
      broken: ({ disk }) => disk.transport === name && !ways.includes(disk.revocation),
    };
  }),
  {
    field: 'disk.revocation',
    message:
      'with fault shutdown-hang only a way that answers with an error: its node is killed at the ' +
      'heal, and what waits for the disk cannot be',
    broken: ({ disk, fault }) => fault.kind === 'shutdown-hang' && hangsWhenCut(disk),
  },
  {
    field: 'fault.serverKills',
    message: 'the first restart comes at once: only from the second on does a kubelet wait',
    broken: ({ fault }) => fault.serverKills === 1,
  },
  {
    field: 'fault.serverKills',
    message:
      'with database.trxCommit 0 each kill takes acknowledged commits, before anything else does',
    broken: ({ fault, database }) => fault.serverKills > 0 && database.trxCommit === 0,
  },
  {
    field: 'fault.serverKills',
    message: 'a self-fence starts and ends the database as well',
    broken: ({ fault, selfFence }) => fault.serverKills > 0 && selfFence.kind !== 'off',
  },
  {
    field: 'fault.driverEnds',
    message: 'without fault.shutdownGrace a kubelet ends no pods, in no order',
    broken: ({ fault }) => fault.driverEnds === 'with-pods' && fault.shutdownGrace === 0,
  },
  {
    field: 'also.kind',
    message:
      'a fault of the control plane is the only one of its run, or comes beside another kind',
    broken: ({ fault, also }) => also.kind !== 'none' && sparesVictim(fault.kind),
  },
  {
    field: 'also.at',
    message: 'there is no successor yet; give a later event, a time, or another also.on',
    broken: ({ also }) =>
      strikesNode({ also }) &&
      also.on === 'successor' &&
      (also.at === 'terminating' || also.at === 'pod-gone'),
  },
  {
    field: 'also.on',
    message:
      'on a victim that runs on, only its agents can fail as well: fault network-partition, ' +
      'api-partition, flapping-partition, cpu-starvation or none, and also kubelet-stall, ' +
      'runtime-stall, containerd-stall or kubelet-restart',
    broken: ({ fault, also }) =>
      strikesNode({ also }) &&
      also.on === 'victim' &&
      !(agentsRun.has(fault.kind) && agentFaults.has(also.kind)),
  },
  {
    field: 'also.kind',
    message: 'with remedy.moveBack, remedy.sameNode or fault.recreations every other node must run',
    broken: ({ fault, also, remedy }) => strikesNode({ also }) && emptiesOthers({ fault, remedy }),
  },
  {
    field: 'disk.mode',
    message:
      'a crash takes nothing from disk shared-file: its directory lies in the page cache ' +
      'of this machine, which outlives a node',
    broken: ({ fault, also, disk }) =>
      (losesPower(fault.kind) || losesPower(also.kind)) && isDirectory(disk.mode),
  },
  {
    field: 'remedy.at',
    message: 'without a fault none of these events comes; give a time after it, such as 0',
    broken: ({ fault, remedy }) =>
      fault.kind === 'none' && remedy.kind !== 'none' && typeof remedy.at !== 'number',
  },
  {
    field: 'remedy.at',
    message: 'what the remedy removes is the pod, and that is gone by then',
    broken: ({ remedy }) => removesPod(remedy.kind) && remedy.at === 'pod-gone',
  },
  {
    field: 'disk.calls',
    message: 'with disk shared-file there are no calls but nodePublish and nodeUnpublish',
    broken: ({ disk }) =>
      isDirectory(disk.mode) &&
      Object.keys(callRulesOf(disk.calls)).some((call) => !call.startsWith('node')),
  },
  {
    field: 'remedy.kind',
    message: 'not with disk shared-file: it has no VolumeAttachment and no path that could be cut',
    broken: ({ remedy, disk }) =>
      isDirectory(disk.mode) && ['attachment', 'path'].includes(actsOn(remedy.kind)),
  },
  {
    field: 'selfFence.after',
    message:
      'shorter than two renewals of the Lease, each a fifth of timers.grace: a healthy node would be fenced',
    broken: ({ selfFence, timers }) =>
      selfFence.kind !== 'off' && selfFence.after < (2 * timers.grace) / 5,
  },
  {
    field: 'timers.forceDetach',
    message: 'the controller manager can switch it off since Kubernetes 1.30 (#120344)',
    broken: ({ timers, kubernetes }) =>
      timers.forceDetach === 'off' && ['1.28', '1.29'].includes(kubernetes.version),
  },
  {
    field: 'kubernetes.admission',
    message: 'ValidatingAdmissionPolicy is stable since Kubernetes 1.30',
    broken: ({ kubernetes }) =>
      kubernetes.admission !== 'open' && ['1.28', '1.29'].includes(kubernetes.version),
  },
  {
    field: 'fault.recreations',
    message: 'pods are deleted one by one, and nothing else is done: remedy none',
    broken: ({ fault, remedy }) => fault.recreations > 0 && remedy.kind !== 'none',
  },
  {
    field: 'workload.preStop',
    message:
      'the database would be killed before it gets SIGTERM: less than workload.terminationGrace',
    broken: ({ workload }) => workload.preStop > 0 && workload.preStop >= workload.terminationGrace,
  },
];

/** Empty where all fits. */
export function contradictions(scenario: Scenario): Contradiction[] {
  const found: Contradiction[] = [];
  const ask = ({ field, message, broken }: ContradictionRule): void => {
    if (broken(scenario)) found.push({ field, message });
  };
  rules.forEach(ask);
  for (const kind of chosenIn(scenario)) kind.rules.forEach(ask);
  return found;
}

/**
 * What is refused of a scenario that somebody wants to run, beyond what contradicts itself: what is set and
 * would do nothing. A record sets every field, so that this is not checked of one, and what earlier versions
 * ran stays readable. `asked`: what of the scenario was set. Empty where all fits.
 */
export function refusals(scenario: Scenario, asked: Settings): Contradiction[] {
  const misplaced = misplacedIn(asked);
  return [
    ...misplaced.map((field) => ({ field, message: doesNothing(field) })),
    ...contradictions(scenario).filter(({ field }) => !misplaced.some((each) => each === field)),
    ...lateMoments(scenario),
    ...idleWaits(scenario, asked),
  ];
}

/** Waits for a successor, where pods are deleted one by one instead. */
const idleWaits = ({ fault: { recreations } }: Scenario, asked: Settings): Contradiction[] =>
  (['watch.overlap', 'watch.patience'] as const)
    .filter((field) => recreations > 0 && valueAt(asked, field) !== undefined)
    .map((field) => ({
      field,
      message: `not with fault.recreations ${recreations}: no successor is waited for`,
    }));

/** Times that the watch does not reach; `untaintAt` counts from the remedy. */
function lateMoments(scenario: Scenario): Contradiction[] {
  const { remedy, watch } = scenario;
  const remedyMs = typeof remedy.at === 'number' ? remedy.at : 0;
  return (['fault.rebootAt', 'also.at', 'remedy.at', 'remedy.untaintAt'] as const)
    .filter((field) => {
      const at = valueAt(scenario, field);
      const from = field === 'remedy.untaintAt' ? remedyMs : 0;
      return typeof at === 'number' && from + at >= watch.horizon && goesWith(field, scenario);
    })
    .map((field) => ({
      field,
      message:
        `${fields[field].show(valueAt(scenario, field))} is too late: the watch is over ` +
        `${formatDuration(watch.horizon)} after the fault at the latest (watch.horizon)`,
    }));
}
