/** Runs a plan to its end, or on from where a killed batch stopped. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describeError, UsageError } from '../core/index.ts';
import { judgeExpectation } from '../judge/index.ts';
import { scheduledLoad } from './capacity.ts';
import { eventsOf, sharesCluster } from './events.ts';
import type { BatchPlan, BatchTrial } from './batch-plan.ts';
import {
  cellsFolder,
  readResults,
  ResultsFile,
  type Attempt,
  type Head,
  type RunOutcome,
  type Results,
} from './results.ts';
import { runQueue, type Room, type Slot } from './schedule.ts';
import type { TestbedOptions } from '../run/index.ts';

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
  /** What the machine carries at once, in cores (capacity.ts). Default: whatever the slots take. */
  readonly loadLimit?: number;
  /**
   * Runs trials under one fault event, each in a folder that it makes; one promise a trial, which
   * rejects where it came to no verdict.
   */
  readonly run: (runs: readonly TrialRun[], where: EventPlace) => readonly Promise<RunOutcome>[];
  /** Wall time, Unix milliseconds. */
  readonly wallMs: () => number;
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
 * Throws UsageError `BATCH_CHANGED` where the folder holds another batch.
 */
export async function runBatch(options: BatchOptions): Promise<Results> {
  const { plan, folder, slots, signal, onProgress } = options;
  const before = begun(options);
  const turns = plan.trials
    .map((trial) => nextTurn(trial, before.attempts, plan.matrix.attempts))
    .filter((turn) => turn !== undefined);
  const attempts = [...before.attempts];
  if (attempts.length > 0) {
    onProgress(
      `continuing: ${plan.trials.length - turns.length} of ${plan.trials.length} trials are done`,
    );
  }
  removeUnfinished(options, attempts);
  using file = new ResultsFile(folder);
  if (before.isNew) file.append(before.head);
  await runQueue({
    items: eventsOf(turns, ({ trial }) => trial, options.volumes ?? 1),
    slots,
    roomOf,
    loadOf: (running) =>
      scheduledLoad(running.map(({ item, slot }) => ({ volumes: item.length, slot }))),
    loadLimit: options.loadLimit ?? Number.POSITIVE_INFINITY,
    signal,
    work: async (event, slot) => {
      const next: Turn[][] = [];
      await perform(options, event, slot, (turn, attempt) => {
        // What an abort cut short was not done: the next start does it from its beginning.
        if (signal.aborted) return;
        file.append(attempt);
        attempts.push(attempt);
        onProgress(tell(plan, attempts, attempt));
        next.push(...again(turn, attempt, plan.matrix.attempts).map((each) => [each]));
      });
      return next;
    },
  });
  signal.throwIfAborted();
  return { head: before.head, attempts };
}

function begun(options: BatchOptions): Results & { readonly isNew: boolean } {
  const { plan, folder, backend, isModel, wallMs } = options;
  const before = readResults(folder);
  if (before === undefined) {
    const head: Head = {
      type: 'batch',
      schemaVersion: 1,
      name: plan.matrix.name,
      seed: plan.seed,
      backend,
      isModel,
      fingerprint: plan.fingerprint,
      startedAt: new Date(wallMs()).toISOString(),
    };
    return { head, attempts: [], isNew: true };
  }
  const { fingerprint, backend: was } = before.head;
  if (fingerprint === plan.fingerprint && was === backend) return { ...before, isNew: false };
  const what = was === backend ? 'cells, seed or repeats' : `backend (${was})`;
  throw new UsageError('BATCH_CHANGED', `${folder} contains a batch with other ${what}`, {
    hint: 'use the matrix file and flags of that batch, or another --out',
    again: ['--out', `${folder}-2`],
  });
}

/** Proven damage stands; without it a run whose machine did not keep time has to be made again. */
const mustRepeat = ({ outcome }: Attempt): boolean =>
  outcome !== undefined && outcome.starved && outcome.verdict === 'inconclusive';

/** What a trial still needs at a start; undefined where it is done. A failed one gets a new try. */
function nextTurn(trial: BatchTrial, attempts: readonly Attempt[], most: number): Turn | undefined {
  const own = attempts.filter((each) => each.trial === trial.id);
  const last = own.at(-1);
  if (last === undefined) return { trial, attempt: 1, alone: trial.alone };
  if (last.outcome === undefined) return { trial, attempt: own.length + 1, alone: trial.alone };
  return again({ trial, attempt: own.length, alone: trial.alone }, last, most)[0];
}

/** A starved trial gets the machine to itself the next time. */
const again = ({ trial, attempt }: Turn, result: Attempt, most: number): Turn[] =>
  mustRepeat(result) && attempt < most ? [{ trial, attempt: attempt + 1, alone: true }] : [];

const nameOf = ({ trial, attempt }: Turn): string =>
  attempt === 1 ? trial.id : `${trial.id}.try-${attempt}`;

function roomOf(event: readonly Turn[]): Room {
  if (event.some(({ alone }) => alone)) return 'machine';
  return event.every(({ trial }) => sharesCluster(trial)) ? 'slot' : 'cluster';
}

/** `done` hears of each attempt as it ends. */
async function perform(
  options: BatchOptions,
  event: readonly Turn[],
  slot: Slot,
  done: (turn: Turn, attempt: Attempt) => void,
): Promise<void> {
  const { folder, signal, wallMs } = options;
  const startedMs = wallMs();
  const runs = event.map((turn) => ({
    trial: turn.trial,
    folder: join(folder, cellsFolder, nameOf(turn)),
  }));
  const outcomes = options.run(runs, { slot, room: roomOf(event), signal });
  await Promise.all(
    event.map(async (turn, index) => {
      const result = await settle(outcomes[index]);
      done(turn, {
        type: 'attempt',
        trial: turn.trial.id,
        attempt: turn.attempt,
        event: event.map(nameOf).join(' '),
        slot: slot.name,
        alone: turn.alone,
        folder: join(cellsFolder, nameOf(turn)),
        startedAt: new Date(startedMs).toISOString(),
        durationMs: wallMs() - startedMs,
        ...result,
      });
    }),
  );
}

async function settle(
  outcome: Promise<RunOutcome> | undefined,
): Promise<Pick<Attempt, 'outcome' | 'error'>> {
  try {
    return outcome === undefined ? { error: 'it was not run' } : { outcome: await outcome };
  } catch (error) {
    return { error: describeError(error) };
  }
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

/** As the batch's last line counts it. */
function heldAgainst(trial: BatchTrial | undefined, outcome: RunOutcome): string {
  if (trial === undefined) return '';
  if (outcome.verdict === 'inconclusive')
    return `, since ${outcome.incompleteBecause[0] ?? 'evidence is missing'}`;
  const { asExpected, open } = judgeExpectation(trial.scenario, outcome);
  if (open === true) return ', open: no expectation';
  return asExpected ? '' : ', not expected';
}

function tell(plan: BatchPlan, attempts: readonly Attempt[], last: Attempt): string {
  const trial = plan.trials.find(({ id }) => id === last.trial);
  const done = new Set(attempts.map((attempt) => attempt.trial)).size;
  const seconds = Math.round(last.durationMs / 1000);
  const about = `[${done}/${plan.trials.length}] ${trial?.label} (${last.trial}, ${seconds} s)`;
  const { outcome, error } = last;
  if (outcome === undefined) return `${about}: FAILED ${error ?? ''}`;
  const isSaid = outcome.verdict === 'inconclusive';
  const starved = outcome.starved && !isSaid ? ', the machine did not keep time' : '';
  return `${about}: ${outcome.verdict.toUpperCase()}${heldAgainst(trial, outcome)}${starved}`;
}
