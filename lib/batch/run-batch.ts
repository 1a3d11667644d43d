/**
 * Runs a plan to its end, or on from where a killed batch stopped: fault events side by side, as many as this
 * machine carries without starving any of them.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, describeError, UsageError } from '../core/index.ts';
import { judgeExpectation } from '../judge/index.ts';
import type { TestbedOptions } from '../run/index.ts';
import { eventsOf, sharesCluster, type BatchPlan, type BatchTrial } from './batch-plan.ts';
import {
  cellsFolder,
  countedIn,
  readResults,
  ResultsFile,
  type Attempt,
  type Head,
  type RunOutcome,
  type Results,
} from './results.ts';
import { mustHaveItsRuns } from './seals.ts';

/** Where one item at a time can run; several slots may be on one cluster. */
export interface Slot {
  /** Unique. */
  readonly name: string;
  readonly cluster: string;
}

/** What an item must have for itself: its slot, the whole cluster, or the machine. */
export type Room = 'slot' | 'cluster' | 'machine';

interface Running<T> {
  readonly item: T;
  readonly slot: Slot;
}

interface Queue<T> {
  readonly items: readonly T[];
  readonly slots: readonly Slot[];
  readonly roomOf: (item: T) => Room;
  /** What all these take of the machine while they run. */
  readonly loadOf: (running: readonly Running<T>[]) => number;
  /** What the machine carries of it at once; a single item runs however much it takes. */
  readonly loadLimit: number;
  /** Between the beginnings of two items, ms, so that their hand-overs and audits do not coincide. */
  readonly spacingMs: number;
  readonly sleep: Clock['sleep'];
  readonly signal: AbortSignal;
  /** Never rejects; resolves with what has to run again. */
  readonly work: (item: T, slot: Slot) => Promise<readonly T[]>;
}

/**
 * Begins the first item of the queue that may run beside the running ones. One that needs the machine
 * waits until all others have ended, and nothing begins before it has. After an abort nothing begins;
 * resolves when the last has ended.
 */
export async function runQueue<T>(options: Queue<T>): Promise<void> {
  const { work, signal, spacingMs, sleep } = options;
  const queue = [...options.items];
  // Those that were used come first: such a slot has its cluster already.
  let slots = [...options.slots];
  const running = new Map<Promise<void>, Running<T>>();
  for (;;) {
    const next = signal.aborted ? undefined : nextOf(queue, slots, [...running.values()], options);
    if (next !== undefined) {
      const { item, slot } = next;
      queue.splice(queue.indexOf(item), 1);
      const task = work(item, slot).then((more) => {
        queue.push(...more);
        slots = [slot, ...slots.filter((each) => each !== slot)];
        running.delete(task);
      });
      running.set(task, next);
      // An abort is seen above; it ends the pause.
      if (spacingMs > 0 && queue.length > 0) await sleep(spacingMs, signal).catch(() => undefined);
    } else if (running.size > 0) {
      await Promise.race(running.keys());
    } else {
      return;
    }
  }
}

/** The first that may begin beside these, and where; undefined where none may. */
function nextOf<T>(
  queue: readonly T[],
  slots: readonly Slot[],
  beside: readonly Running<T>[],
  { roomOf, loadOf, loadLimit }: Queue<T>,
): Running<T> | undefined {
  if (beside.some(({ item }) => roomOf(item) === 'machine')) return undefined;
  const hasSharers = queue.some((item) => roomOf(item) === 'slot');
  /** Has slots that would idle while one item has the cluster. */
  const isPooled = ({ cluster }: Slot): boolean =>
    slots.filter((slot) => slot.cluster === cluster).length > 1;
  for (const item of queue) {
    const room = roomOf(item);
    if (room === 'machine' && beside.length > 0) return undefined;
    const isFree = (slot: Slot): boolean => {
      const neighbours = beside.filter((each) => each.slot.cluster === slot.cluster);
      if (room !== 'slot') return neighbours.length === 0 && !(isPooled(slot) && hasSharers);
      return neighbours.every((each) => each.slot !== slot && roomOf(each.item) === 'slot');
    };
    const [best] = slots
      .filter(isFree)
      .map((slot) => ({ item, slot, load: loadOf([...beside, { item, slot }]) }))
      .filter(({ load }) => beside.length === 0 || load <= loadLimit)
      .toSorted((a, b) => a.load - b.load);
    if (best !== undefined) return best;
  }
  return undefined;
}

/*
 * Load, in cores. Measured on two cores, with a commit a second and client, while all wait
 * (docs/reference/matrix.md, "What was run so far"): two events of eight volumes and a single run take
 * 0.84 to 0.99 of a core.
 */
/** A control plane, and what watches it. */
const clusterLoad = 0.16;
/** The two nodes of a fault event, and what watches them. */
const eventLoad = 0.02;
/** Each database with its clients. */
const volumeLoad = 0.025;
/**
 * The rest is for starts, copies and audits. Three events of eight, 1.14 on two cores, starved each other;
 * two of them and one of two, 0.99, did not (docs/internals/batches.md).
 */
const loadPerCore = 0.55;
const gib = 1024 ** 3;
/** A cluster, and what its start asks to be free; two nodes and their database more in a pool. */
const memory = { cluster: 3 * gib, event: 0.5 * gib, volume: 0.3 * gib } as const;
/**
 * With shortened timers nothing waits, and a cluster more only takes: 100 s of a core to be made, 0.13
 * of one from then on. Two cores made the default file in 16.6 min with three.
 */
const shortenedClustersPerCore = 1.5;

/** What so many cores carry at once. */
export const loadLimitOf = (cores: number): number => cores * loadPerCore;

/** What these fault events take in their slots. */
function loadOf(running: readonly Running<readonly unknown[]>[]): number {
  const clusters = new Set(running.map(({ slot }) => slot.cluster));
  const volumes = running.reduce((sum, { item }) => sum + item.length, 0);
  return clusters.size * clusterLoad + running.length * eventLoad + volumes * volumeLoad;
}

/**
 * Pools of each cluster: as many as are asked for in the first, one in the others, which are for runs
 * that have a cluster to themselves. At least one: a machine that is too small says so itself when
 * the cluster starts.
 */
export function clustersFor(
  machine: { readonly cores: number; readonly availableMemoryBytes: number },
  asked: { readonly pools: number; readonly volumes: number; readonly isShortened: boolean },
): readonly number[] {
  const { cores, availableMemoryBytes } = machine;
  const { isShortened } = asked;
  const perEvent = memory.event + asked.volumes * memory.volume;
  const perCluster = memory.cluster + perEvent;
  const fitting = Math.floor((availableMemoryBytes - memory.cluster) / perEvent);
  const first = Math.max(1, Math.min(asked.pools, fitting));
  const left = availableMemoryBytes - memory.cluster - first * perEvent;
  const byCores = isShortened
    ? Math.floor(cores * shortenedClustersPerCore)
    : Math.floor(loadLimitOf(cores) / (clusterLoad + eventLoad + volumeLoad));
  const others = Math.max(0, Math.min(Math.floor(left / perCluster), byCores - 1));
  return [first, ...Array.from({ length: others }, () => 1)];
}

/** `matrix-1/2` is the second pool of the cluster `matrix-1`; a cluster of one has its name. */
export const slotsOf = (cluster: string, pools: number): Slot[] =>
  Array.from({ length: pools }, (_, index) => ({
    cluster,
    name: pools === 1 ? cluster : `${cluster}/${index + 1}`,
  }));

/** Where an event may run, and until when. */
export interface EventPlace {
  readonly slot: Slot;
  readonly room: Room;
  readonly signal: AbortSignal;
}

/** The batch's folder exists. */
export interface BatchOptions extends Pick<TestbedOptions, 'folder' | 'onProgress' | 'signal'> {
  readonly plan: BatchPlan;
  /** Its name, and whether it predicts. */
  readonly backend: string;
  readonly isModel: boolean;
  /** Slots for fault events side by side; those in slots of one cluster have victims of their own. */
  readonly slots: readonly Slot[];
  /** At most so many trials under one fault event, each with a volume of its own. Default 1. */
  readonly volumes?: number;
  /** What the machine carries at once, in cores. Default: whatever the slots take. */
  readonly loadLimit?: number;
  /** Between the beginnings of two fault events, ms. Default 0. */
  readonly spacingMs?: number;
  /**
   * Runs trials under one fault event, each in a folder that it makes; one promise a trial, which
   * rejects where it came to no verdict.
   */
  readonly run: (runs: readonly TrialRun[], where: EventPlace) => readonly Promise<RunOutcome>[];
  readonly clock: Pick<Clock, 'wallMs' | 'sleep'>;
}

export interface TrialRun {
  readonly trial: BatchTrial;
  readonly folder: string;
}

interface Turn {
  readonly trial: BatchTrial;
  /** From 1. */
  readonly attempt: number;
  readonly alone: boolean;
}

/**
 * Resolves when every trial has its last attempt; rejects with the signal's reason after an abort.
 * Throws UsageError `BATCH_CHANGED` where the folder holds another batch, and EvidenceError `BATCH_ALTERED`
 * where a run that is done is not the one that it was.
 */
export async function runBatch(options: BatchOptions): Promise<Results> {
  const { plan, folder, slots, signal, onProgress, clock, ...limits } = options;
  const { volumes = 1, loadLimit = Infinity, spacingMs = 0 } = limits;
  const before = readResults(folder);
  const head = before?.head ?? headOf(options);
  refuseChanged(head, options);
  const attempts = [...(before?.attempts ?? [])];
  mustHaveItsRuns(folder, attempts.map(countedIn));
  const turns = plan.trials.flatMap((trial) => nextTurn(trial, attempts, plan.matrix.attempts));
  if (attempts.length > 0) {
    const done = plan.trials.length - turns.length;
    onProgress(`continuing: ${done} of ${plan.trials.length} trials are done`);
  }
  removeUnfinished(options, attempts);
  using file = new ResultsFile(folder);
  if (before === undefined) file.append(head);
  await runQueue({
    items: eventsOf(turns, ({ trial }) => trial, volumes),
    ...{ slots, roomOf, loadOf, loadLimit, signal, spacingMs },
    sleep: (ms, until) => clock.sleep(ms, until),
    work: async (event, slot) => {
      const next: Turn[][] = [];
      await perform(options, event, slot, (turn, attempt) => {
        // What an abort cut short was not done: the next start does it from its beginning.
        if (signal.aborted) return;
        file.append(attempt);
        attempts.push(attempt);
        onProgress(progressLine(plan, attempts, attempt));
        next.push(...again(turn, attempt, plan.matrix.attempts).map((each) => [each]));
      });
      return next;
    },
  });
  signal.throwIfAborted();
  return { head, attempts };
}

const headOf = ({ plan, backend, isModel, clock }: BatchOptions): Head => ({
  ...{ type: 'batch', schemaVersion: 1, name: plan.matrix.name, seed: plan.seed },
  ...{ backend, isModel, fingerprint: plan.fingerprint },
  startedAt: new Date(clock.wallMs()).toISOString(),
});

function refuseChanged(head: Head, { plan, folder, backend }: BatchOptions): void {
  if (head.fingerprint === plan.fingerprint && head.backend === backend) return;
  const what = head.backend === backend ? 'cells, seed or repeats' : `backend (${head.backend})`;
  throw new UsageError('BATCH_CHANGED', `${folder} contains a batch with other ${what}`, {
    hint: 'use the matrix file and flags of that batch, or another --out',
    again: ['--out', `${folder}-2`],
  });
}

/** What a trial still needs at a start; none where it is done. A failed one gets a new try. */
function nextTurn(trial: BatchTrial, attempts: readonly Attempt[], most: number): Turn[] {
  const own = attempts.filter((each) => each.trial === trial.id);
  const last = own.at(-1);
  if (last?.outcome === undefined) return [{ trial, attempt: own.length + 1, alone: trial.alone }];
  return again({ trial, attempt: own.length, alone: trial.alone }, last, most);
}

/**
 * Proven damage stands; without it a run whose machine did not keep time has to be made again, and gets
 * the machine to itself.
 */
function again({ trial, attempt }: Turn, { outcome }: Attempt, most: number): Turn[] {
  const mustRepeat = outcome?.starved === true && outcome.verdict === 'inconclusive';
  return mustRepeat && attempt < most ? [{ trial, attempt: attempt + 1, alone: true }] : [];
}

const nameOf = ({ trial, attempt }: Turn): string =>
  attempt === 1 ? trial.id : `${trial.id}.try-${attempt}`;

function roomOf(event: readonly Turn[]): Room {
  if (event.some(({ alone }) => alone)) return 'machine';
  return event.every(({ trial }) => sharesCluster(trial)) ? 'slot' : 'cluster';
}

/** Calls `done` with each attempt as it ends. */
async function perform(
  { folder, signal, clock, run }: BatchOptions,
  event: readonly Turn[],
  slot: Slot,
  done: (turn: Turn, attempt: Attempt) => void,
): Promise<void> {
  const startedMs = clock.wallMs();
  const pathOf = (turn: Turn): string => join(cellsFolder, nameOf(turn));
  const runs = event.map((turn) => ({ trial: turn.trial, folder: join(folder, pathOf(turn)) }));
  const outcomes = run(runs, { slot, room: roomOf(event), signal });
  await Promise.all(
    event.map(async (turn, index) => {
      const result = await Promise.resolve(outcomes[index]).then(
        (outcome) => (outcome === undefined ? { error: 'it was not run' } : { outcome }),
        (error: unknown) => ({ error: describeError(error) }),
      );
      done(turn, {
        ...{ type: 'attempt', trial: turn.trial.id, attempt: turn.attempt },
        event: event.map(nameOf).join(' '),
        ...{ slot: slot.name, alone: turn.alone, folder: pathOf(turn) },
        startedAt: new Date(startedMs).toISOString(),
        durationMs: clock.wallMs() - startedMs,
        ...result,
      });
    }),
  );
}

/** A kill leaves runs behind that came to no end: they prove nothing. */
function removeUnfinished(
  { folder, onProgress }: BatchOptions,
  attempts: readonly Attempt[],
): void {
  const cells = join(folder, cellsFolder);
  mkdirSync(cells, { recursive: true });
  for (const name of readdirSync(cells)) {
    if (attempts.some((attempt) => attempt.folder === join(cellsFolder, name))) continue;
    onProgress(`${name} was cut short: running it again`);
    rmSync(join(cells, name), { recursive: true });
  }
}

function progressLine(plan: BatchPlan, attempts: readonly Attempt[], last: Attempt): string {
  const trial = plan.trials.find(({ id }) => id === last.trial);
  const done = new Set(attempts.map((attempt) => attempt.trial)).size;
  const seconds = Math.round(last.durationMs / 1000);
  const about = `[${done}/${plan.trials.length}] ${trial?.label} (${last.trial}, ${seconds} s)`;
  const { outcome, error = '' } = last;
  if (outcome === undefined) return `${about}: FAILED ${error}`;
  const { verdict, starved, incompleteBecause } = outcome;
  if (verdict === 'inconclusive') {
    const because = trial && `, since ${incompleteBecause[0] ?? 'evidence is missing'}`;
    return `${about}: INCONCLUSIVE${because ?? ''}`;
  }
  const { asExpected = true, open } = trial ? judgeExpectation(trial.scenario, outcome) : {};
  const held = open === true ? ', open: no expectation' : asExpected ? '' : ', not expected';
  const late = starved ? ', the machine did not keep time' : '';
  return `${about}: ${verdict.toUpperCase()}${held}${late}`;
}
