/**
 * What a batch will run, in which order, and which trials can share a fault event: drawn from the seed, so
 * that a restart agrees.
 */
import { createHash } from 'node:crypto';
import { randomStream, type RandomStream } from '../core/index.ts';
import {
  type FieldName,
  type Scenario,
  type Settings,
  actsOn,
  deletesNode,
  fieldNames,
  isDirectory,
  parseScenario,
  sharesEvents,
  settingsFrom,
  valuesIn,
  combined,
  valueAt,
} from '../scenario/index.ts';
import { ruleFor, type Cell } from './cells.ts';
import { isLoud, type Matrix } from './matrix.ts';
import type { RunOutcome } from './results.ts';

export const controlRoles = ['total', 'silent', 'safe'] as const;
export type ControlRole = (typeof controlRoles)[number];

/**
 * Controls: runs whose outcome is known. A batch that does not see damage which is there, total or
 * small and silent, or that sees some where there can be none, proves nothing.
 */
export interface Control {
  readonly role: ControlRole;
  readonly label: string;
  readonly scenario: Scenario;
}

interface ControlDeclaration {
  readonly label: string;
  readonly settings: Settings;
  readonly expected: Scenario['expected'];
  /** Empty where the outcome is the known one, else what is wrong with it. */
  readonly judge: (outcome: RunOutcome) => string;
}

/** A binary log is synced at each commit: on a slow disk the last second then has one or none. */
const losingTheTail = { database: { trxCommit: 2, binlog: 'off' } } as const;

/** Tainted at once, so that a control costs no wait for a forced detach. */
const soon = { remedy: { kind: 'out-of-service', at: 5000 } } as const;

const unknownLoss = 'an unknown number';

const controls: Readonly<Record<ControlRole, ControlDeclaration>> = {
  total: {
    label: 'crash on a disk that ignores flushes: loud damage',
    settings: {
      fault: { kind: 'node-crash', powerLoss: 'drops' },
      disk: { flushes: 'ignored' },
      ...soon,
    },
    expected: ['lost', 'corrupt'],
    judge: ({ verdict, beforeFault, ...whole }) => {
      // A successor that serves for long commits more than there was to lose.
      const { lost, acked } = beforeFault ?? whole;
      const isSeen = (verdict === 'lost' || verdict === 'corrupt') && (lost ?? 0) * 2 > acked;
      const found = `${lost ?? unknownLoss} of ${acked} were (${verdict})`;
      return isSeen ? '' : `most commits had to be lost, and ${found}`;
    },
  },
  silent: {
    label: 'crash with trx_commit 2: a few commits lost, silently',
    settings: { fault: { kind: 'node-crash', powerLoss: 'drops' }, ...losingTheTail, ...soon },
    expected: ['lost'],
    judge: ({ verdict, lost, acked, noticed }) =>
      verdict === 'lost' && lost !== null && lost > 0 && lost * 10 < acked && noticed === 'silent'
        ? ''
        : `a few commits had to be lost silently: ${lost ?? unknownLoss} of ${acked}, ${noticed ?? 'nothing to notice'} (${verdict})`,
  },
  safe: {
    label: 'partition on a disk that fences: another node mounts, and nothing is lost',
    settings: { fault: { kind: 'network-partition' }, disk: { mode: 'fenced' }, ...soon },
    expected: ['safe'],
    judge: ({ verdict, secondMountS, served }) =>
      verdict === 'safe' && secondMountS !== null && served !== false
        ? ''
        : `a second mount without damage was expected, and a database that serves (${verdict})`,
  },
};

/** Fields that controls take over from the matrix: on which Kubernetes, and how long things last. */
const ofMatrix: readonly string[] = [
  ...['kubernetes.version', 'kubernetes.featureGates', 'timers.grace', 'timers.toleration'],
  ...['timers.forceDetachAfter', 'watch.warmup', 'watch.overlap', 'watch.patience'],
  ...['watch.horizon', 'watch.converge'],
];

function controlsOf(base: Settings): Control[] {
  const given = settingsFrom(valuesIn(base).filter(([name]) => ofMatrix.includes(name)));
  return controlRoles.map((role) => {
    const { label, settings, expected } = controls[role];
    const about = { name: `control-${role}`, question: `A control: ${label}.` };
    return {
      role,
      label,
      scenario: parseScenario({ ...combined(given, settings), ...about, expected }),
    };
  });
}

/** Empty where the control holds. */
export const judgeControl = (role: ControlRole, outcome: RunOutcome): string =>
  controls[role].judge(outcome);

/** One run that the batch owes. */
export interface BatchTrial extends Pick<Cell, 'id' | 'label' | 'scenario'> {
  /** `check`: a cell once more, alone on its victim and its cluster, with its first run's seed. */
  readonly kind: 'cell' | 'control' | 'check';
  /** Id of the cell, or role of the control. */
  readonly subject: string;
  readonly seed: string;
  /** Nothing else may run meanwhile, on no cluster. */
  readonly alone: boolean;
}

export interface BatchPlan {
  readonly matrix: Matrix;
  readonly seed: string;
  readonly cells: readonly Cell[];
  readonly controls: readonly Control[];
  /** In the order in which they begin. */
  readonly trials: readonly BatchTrial[];
  /** The same for the same trials, whatever the file looks like. */
  readonly fingerprint: string;
}

/**
 * In random order, so that nothing slow (a filling disk, a warming machine) can look like an axis.
 * All runs of one repeat share a seed, so that two cells differ in their axes only.
 */
export function batchPlanOf(matrix: Matrix, cells: readonly Cell[], seed: string): BatchPlan {
  const random = randomStream(seed);
  const controls = controlsOf(matrix.base);
  const counted = cells.map((cell) => {
    const { repeats, alone } = ruleFor(matrix.repeatsOf, cell.place) ?? { ...matrix, alone: 0 };
    return { cell, repeats, alone };
  });
  const comparable = counted.filter(({ alone }) => alone === 0).map(({ cell }) => cell);
  const checked = shuffled(comparable, random.stream('checks')).slice(
    0,
    Math.ceil(comparable.length * matrix.rerunAlone),
  );
  const cellTrial = ({ id, label, scenario }: Cell, repeat: number): BatchTrial => ({
    ...{ id: `${id}.${repeat}`, kind: 'cell', subject: id, label, scenario },
    ...{ seed: `${seed}-${repeat}`, alone: disturbs(scenario) },
  });
  const trials = [
    ...counted.flatMap(({ cell, repeats, alone }) =>
      Array.from({ length: repeats }, (_, index) => {
        const trial = cellTrial(cell, index + 1);
        return { ...trial, alone: trial.alone || index >= repeats - alone };
      }),
    ),
    ...controls.map(
      ({ role, label, scenario }): BatchTrial => ({
        ...{ id: `control-${role}`, kind: 'control', subject: role, label, scenario },
        ...{ seed: `${seed}-1`, alone: false },
      }),
    ),
    ...checked.map(
      (cell): BatchTrial => ({
        ...{ ...cellTrial(cell, 1), id: `${cell.id}.alone`, kind: 'check' },
      }),
    ),
  ];
  const ordered = around(shuffled(trials, random.stream('order')), cells.length);
  const fingerprint = createHash('sha256')
    .update(JSON.stringify(ordered.map(doneIn)))
    .digest('hex');
  return { matrix, seed, cells, controls, trials: ordered, fingerprint };
}

/** Without what is expected of it: what was counted meanwhile makes no other batch. */
function doneIn({ scenario, ...trial }: BatchTrial): unknown {
  const { expected: _, expectedServing: __, counted: ___, ...done } = scenario;
  return { ...trial, scenario: done };
}

/**
 * What has the machine to itself begins first and in one row: each later one would have to wait until
 * all others have ended, and the clusters beside would not be there yet. What is no cell tells of no
 * axis, and is put where it costs the least time: the longest rerun, which wants a cluster to itself,
 * begins beside the cells; the other reruns and the controls begin once the first events have ended,
 * the longest first. Where cells repeat they begin before the cells: such a batch is worth something
 * when it is ended early, but for its controls.
 */
function around(drawn: readonly BatchTrial[], cells: number): BatchTrial[] {
  const byLength = (trials: readonly BatchTrial[]): BatchTrial[] =>
    trials.toSorted((a, b) => lengthMs(b.scenario) - lengthMs(a.scenario));
  const { cell = [], check = [], control = [] } = Object.groupBy(drawn, ({ kind }) => kind);
  const [first, ...reruns] = byLength(check);
  const ahead = first === undefined ? [] : [first];
  const alone = cell.filter((trial) => trial.alone);
  const beside = cell.filter((trial) => !trial.alone);
  const others = byLength([...reruns, ...control]);
  return cell.length > cells
    ? [...alone, ...ahead, ...others, ...beside]
    : [...alone, ...ahead, ...beside, ...others];
}

/** At most, roughly: a database that is damaged is waited for twice. */
function lengthMs(scenario: Scenario): number {
  const { remedy, watch, expected } = scenario;
  const untilHeal = typeof remedy.at === 'number' ? remedy.at : watch.horizon;
  return untilHeal + (expected.includes('corrupt') ? watch.patience + watch.converge : 0);
}

/** Would another cluster notice: what takes the machine's time. A control plane is its own cluster's. */
export const disturbs = ({ fault, load }: Scenario): boolean =>
  isLoud(load.rate) || fault.kind === 'cpu-starvation';

/** By a draw for each; the items themselves stay in their order. */
function shuffled<T>(items: readonly T[], random: RandomStream): T[] {
  const order = items.map((item) => ({ item, draw: random.float() }));
  return order.toSorted((a, b) => a.draw - b.draw).map(({ item }) => item);
}

/** What belongs to a volume, its database or its pod, and may differ under one fault. */
const ownGroups: readonly string[] = ['disk', 'volume', 'workload', 'load', 'database'];
/** A cluster has a provisioner or none, one transport; a drain of the node waits for all its preStop hooks. */
const ofNode: readonly FieldName[] = [
  ...([
    'volume.provision',
    'disk.transport',
    'workload.preStop',
    'remedy.moveBack',
    'remedy.sameNode',
  ] as const),
];

/** What no file sets is how a run is called and what it is held against: its own as well. */
const sharedUnder = (
  groups: readonly string[],
  timers: readonly FieldName[],
): readonly FieldName[] =>
  fieldNames.filter((name) => {
    const [group = '', key] = name.split('.');
    const isOwn = key === undefined || groups.includes(group) || timers.includes(name);
    return !isOwn || ofNode.includes(name);
  });
/** What is done to the node is done to all, once a pod is Terminating: all become so together. */
const sharedFields = sharedUnder(ownGroups, []);
const sharedBesideRemedies = sharedUnder([...ownGroups, 'remedy'], ['timers.toleration']);

/** Trials with the same key fit under one event; undefined where a trial wants its own. */
export function eventKey({ kind, scenario, seed, alone }: BatchTrial): string | undefined {
  const { fault, also, remedy, disk, selfFence, workload } = scenario;
  const on = actsOn(remedy.kind);
  // What an operator does to one pod or its attachment leaves its neighbours alone; what is done to the node affects all.
  const isOfPod = on === 'nothing' || on === 'pod' || on === 'attachment';
  const fits =
    sharesEvents(fault.kind) &&
    (isOfPod || on === 'node') &&
    also.kind === 'none' &&
    !isDirectory(disk.mode) &&
    selfFence.kind === 'off' &&
    !workload.finalizer &&
    // One kill ends the servers of all runs on the node.
    fault.serverKills === 0;
  if (!fits || alone || kind === 'check') return undefined;
  const shared = isOfPod ? sharedBesideRemedies : sharedFields;
  return JSON.stringify([seed, isOfPod, shared.map((name) => valueAt(scenario, name))]);
}

/**
 * Whether events of other victims may be on its cluster meanwhile. A node that comes back as another
 * one gets another pod range, which its whole cluster has to be told.
 */
export const sharesCluster = (trial: BatchTrial): boolean =>
  eventKey(trial) !== undefined && !deletesNode(trial.scenario.remedy.kind);

/** Groups of at most `volumes`, each in the place of its first member. */
export function eventsOf<T>(
  items: readonly T[],
  trialOf: (item: T) => BatchTrial,
  volumes: number,
): T[][] {
  const events: T[][] = [];
  const open = new Map<string | undefined, T[]>();
  for (const item of items) {
    const key = eventKey(trialOf(item));
    const group = key === undefined ? undefined : open.get(key);
    if (group !== undefined && group.length < volumes) {
      group.push(item);
      continue;
    }
    const event = [item];
    events.push(event);
    open.set(key, event);
  }
  return events;
}
