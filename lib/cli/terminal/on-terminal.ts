/**
 * A run on the terminal: what has just happened and what the run waits for, its end by a signal, and at last what
 * it could not heal.
 */
import { afterInterrupt, type BoundedStep, type Database } from '../../run/index.ts';
import { type HistoryRecord, observed, type SmallRecord } from '../../history/index.ts';
import { type Phases, outlookOf, tellStory } from '../../judge/index.ts';
import { type LogProgress, type Wait, startProgress } from './progress.ts';
import { type Clock, plainText } from '../../core/index.ts';
import type { RunHooks } from '../library/run-plan.ts';
import { say } from '../command.ts';
import { onInterrupt } from '../guard.ts';

/** What comes after an interrupt, in its order. */
const wayHome = [
  'heal',
  'undo-remedy',
  'undo-move-back',
  'stop-observers',
  'stop-writers',
  'export-writes',
  'close',
] as const satisfies readonly BoundedStep[];

/** `nowMs`: any clock of real time. */
export class TimeLeft {
  readonly #nowMs: () => number;
  #step: BoundedStep = 'prepare';
  #sinceMs: number;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
    this.#sinceMs = nowMs();
  }

  enter(step: BoundedStep): void {
    this.#step = step;
    this.#sinceMs = this.#nowMs();
  }

  /** From now on each step has so long as it has after an interrupt. */
  interrupt(): void {
    this.#sinceMs = this.#nowMs();
  }

  /** `heal, at most 72 s more; all of it at most 362 s`. */
  words(): string {
    const stepMs = afterInterrupt(this.#step).mostMs - (this.#nowMs() - this.#sinceMs);
    const later = wayHome.slice(wayHome.findIndex((step) => step === this.#step) + 1);
    // A cluster that never came up has nothing but itself to take back.
    const steps: readonly BoundedStep[] = this.#step === 'prepare' ? ['clean-up'] : later;
    const allMs = steps.reduce((sum, step) => sum + afterInterrupt(step).mostMs, stepMs);
    const [stepS, allS] = [stepMs, allMs].map((ms) => Math.max(1, Math.ceil(ms / 1000)));
    return `${this.#step}, at most ${stepS} s more; all of it at most ${allS} s`;
  }
}

export type NarratorOutput = Pick<LogProgress, 'fault' | 'say' | 'wait'>;

/** The runner itself reports the first commits; a node may come and go. */
const news: Readonly<Partial<Record<keyof Phases, string>>> = {
  evicted: 'the pod is evicted: Terminating',
  podRemoved: 'the old pod is gone',
  detached: 'the volume is detached from the old node',
  attached: 'the volume is attached to another node',
  secondMount: 'another node mounted the volume',
  recovered: 'the successor is Ready',
};

/** Observations that a phase or a wait is read from; others come ten times a second. */
const telling = new Set<string>([
  observed.nodeReady,
  observed.podRunning,
  observed.podTerminating,
  observed.podGone,
  observed.podReady,
  observed.attachmentGone,
  observed.attachmentAttached,
  observed.mounted,
  observed.unmounted,
  observed.leaderAcquired,
  observed.csiCall,
]);

/** A wait is reported once more when it is late by so much. */
const lateMs = 15_000;

/** Reports each record as it comes. */
export function narrating(
  output: NarratorOutput,
  database: Database,
): (record: HistoryRecord) => void {
  const records: SmallRecord[] = [];
  const done = new Set<string>();
  let wait: Wait | undefined;
  let faultAtMs: number | undefined;
  let wasReady = true;
  const sayOnce = (line: string): void => {
    if (!done.has(line)) output.say(line);
    done.add(line);
  };
  const waitFor = (next: Wait | undefined, nowMs: number): void => {
    if (next?.clause !== wait?.clause) output.wait(next);
    else if (next?.dueAtMs !== undefined && nowMs > next.dueAtMs + lateMs) {
      if (!done.has(next.clause)) output.wait(next);
      done.add(next.clause);
    }
    wait = next;
  };
  return (record) => {
    if (!tells(record)) {
      if ('t' in record) waitFor(wait, record.t);
      return;
    }
    records.push(record);
    const story = tellStory(records, database);
    if (faultAtMs === undefined && story.faultAtMs !== undefined) output.fault(story.faultAtMs);
    ({ faultAtMs } = story);
    const { phases, refused, waiting } = outlookOf(story);
    const isReady = readinessIn(record, story.victimNode);
    if (isReady !== undefined && isReady !== wasReady) {
      output.say(isReady ? 'the node is Ready again' : 'the node is NotReady');
      wasReady = isReady;
    }
    for (const [phase, line] of Object.entries(news)) {
      if (phases[phase as keyof Phases] !== null) sayOnce(line);
    }
    for (const line of refused) sayOnce(line);
    const { clause, dueS = Infinity } = waiting ?? {};
    const next =
      clause === undefined ? undefined : { clause, dueAtMs: (faultAtMs ?? 0) + dueS * 1000 };
    waitFor(next, record.t);
  };
}

/** Of the victim, once there is one. */
function readinessIn(record: SmallRecord, victim: string | undefined): boolean | undefined {
  if (victim === undefined || record.type !== 'observation') return undefined;
  if (record.name !== observed.nodeReady || record.node !== victim) return undefined;
  return record.data['status'] === 'True';
}

function tells(record: HistoryRecord): record is SmallRecord {
  if (record.type === 'observation') return telling.has(record.name);
  return ['run', 'setup', 'phase', 'action'].includes(record.type);
}

/** `perform` gets the hooks of the run; the clock is the run's own. */
export async function onTerminal<V>(
  database: Database,
  perform: (watch: (clock: Clock) => RunHooks) => Promise<V>,
): Promise<V> {
  let progress: LogProgress | undefined;
  // Lines quote the engine, the cluster and the database.
  const tellStep = (line: string): void => progress?.say(plainText(line));
  const left = new TimeLeft();
  const unhealed: string[] = [];
  using interrupt = onInterrupt(tellStep, () => left.words());
  interrupt.signal.addEventListener('abort', () => left.interrupt());
  try {
    return await perform((clock) => {
      const shown = startProgress(process.stderr, clock);
      progress = shown;
      return {
        onProgress: tellStep,
        onPhase: (phase) => shown.phase(phase),
        onStep: (step) => left.enter(step),
        onUnhealed: (what) => unhealed.push(what),
        onRecord: narrating(shown, database),
        signal: interrupt.signal,
      };
    });
  } finally {
    progress?.end();
    // Last, where it is not overlooked.
    for (const what of unhealed) say(`NOT HEALED or left behind: ${what}`);
  }
}
