/** Runs a plan to its end, or on from where a killed batch stopped. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describeError, UsageError } from '../errors.ts';
import type { Plan, Trial } from './plan.ts';
import {
  readResults,
  ResultsFile,
  type Attempt,
  type Head,
  type Outcome,
  type Results,
} from './results.ts';
import { runQueue } from './schedule.ts';

export interface BatchOptions {
  readonly plan: Plan;
  /** The batch's folder; it exists. */
  readonly folder: string;
  readonly backend: 'kind' | 'sim';
  /** As many trials run side by side. */
  readonly slots: readonly string[];
  /** Runs one trial in a folder that it makes. Rejects where it came to no verdict. */
  readonly run: (
    trial: Trial,
    where: { readonly slot: string; readonly folder: string; readonly signal: AbortSignal },
  ) => Promise<Outcome>;
  /** Wall time, Unix milliseconds. */
  readonly wallMs: () => number;
  readonly onProgress: (line: string) => void;
  readonly signal: AbortSignal;
}

const cellsFolder = 'cells';

interface Turn {
  readonly trial: Trial;
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
    onProgress(`going on: ${plan.trials.length - turns.length} of ${plan.trials.length} are done`);
  }
  removeUnfinished(options, attempts);
  using file = new ResultsFile(folder);
  if (before.isNew) file.append(before.head);
  await runQueue({
    items: turns,
    slots,
    isAlone: ({ alone }) => alone,
    signal,
    work: async (turn, slot) => {
      const attempt = await perform(options, turn, slot);
      // What an abort cut short was not done: the next start does it from its beginning.
      if (signal.aborted) return [];
      file.append(attempt);
      attempts.push(attempt);
      onProgress(tell(plan, attempts, attempt));
      return again(turn, attempt, plan.matrix.attempts);
    },
  });
  signal.throwIfAborted();
  return { head: before.head, attempts };
}

function begun(options: BatchOptions): Results & { readonly isNew: boolean } {
  const { plan, folder, backend, wallMs } = options;
  const before = readResults(folder);
  if (before === undefined) {
    const head: Head = {
      type: 'batch',
      schemaVersion: 1,
      name: plan.matrix.name,
      seed: plan.seed,
      backend,
      fingerprint: plan.fingerprint,
      startedAt: new Date(wallMs()).toISOString(),
    };
    return { head, attempts: [], isNew: true };
  }
  const { fingerprint, backend: was } = before.head;
  if (fingerprint === plan.fingerprint && was === backend) return { ...before, isNew: false };
  const what = was === backend ? 'cells, seed or repeats' : `backend (${was})`;
  throw new UsageError('BATCH_CHANGED', `${folder} holds a batch with other ${what}`, {
    hint: 'give --out a new folder, or the matrix file and flags that this batch began with',
  });
}

/** Proven damage stands; without it a run whose machine did not keep time has to be made again. */
const mustRepeat = ({ outcome }: Attempt): boolean =>
  outcome !== undefined && outcome.starved && outcome.verdict === 'inconclusive';

/** What a trial still needs at a start; undefined where it is done. A failed one gets a new try. */
function nextTurn(trial: Trial, attempts: readonly Attempt[], most: number): Turn | undefined {
  const own = attempts.filter((each) => each.trial === trial.id);
  const last = own.at(-1);
  if (last === undefined) return { trial, attempt: 1, alone: trial.alone };
  if (last.outcome === undefined) return { trial, attempt: own.length + 1, alone: trial.alone };
  return again({ trial, attempt: own.length, alone: trial.alone }, last, most)[0];
}

/** A starved trial gets the machine to itself the next time. */
const again = ({ trial, attempt }: Turn, result: Attempt, most: number): Turn[] =>
  mustRepeat(result) && attempt < most ? [{ trial, attempt: attempt + 1, alone: true }] : [];

async function perform(options: BatchOptions, turn: Turn, slot: string): Promise<Attempt> {
  const { trial, attempt, alone } = turn;
  const name = attempt === 1 ? trial.id : `${trial.id}.try-${attempt}`;
  const folder = join(cellsFolder, name);
  const startedMs = options.wallMs();
  const about = {
    type: 'attempt' as const,
    trial: trial.id,
    attempt,
    event: name,
    slot,
    alone,
    folder,
    startedAt: new Date(startedMs).toISOString(),
  };
  try {
    const where = { slot, folder: join(options.folder, folder), signal: options.signal };
    const outcome = await options.run(trial, where);
    return { ...about, durationMs: options.wallMs() - startedMs, outcome };
  } catch (error) {
    const durationMs = options.wallMs() - startedMs;
    return { ...about, durationMs, error: describeError(error) };
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
    onProgress(`${name} was cut short: it begins anew`);
    rmSync(join(cells, name), { recursive: true });
  }
}

function tell(plan: Plan, attempts: readonly Attempt[], last: Attempt): string {
  const trial = plan.trials.find(({ id }) => id === last.trial);
  const done = new Set(attempts.map((attempt) => attempt.trial)).size;
  const seconds = Math.round(last.durationMs / 1000);
  const about = `[${done}/${plan.trials.length}] ${trial?.label} (${last.trial}, ${seconds} s)`;
  const { outcome, error } = last;
  if (outcome === undefined) return `${about}: FAILED ${error ?? ''}`;
  const starved = outcome.starved ? ', the machine did not keep time' : '';
  const expected = outcome.asExpected ? '' : ', not expected';
  return `${about}: ${outcome.verdict.toUpperCase()}${expected}${starved}`;
}
