/**
 * A run on the terminal: what has just happened and what the run waits for, its end by a signal, and at last what
 * it could not heal.
 */
import { type Clock, plainText } from '../../core/index.ts';
import { type HistoryRecord, observed, type SmallRecord } from '../../history/index.ts';
import { type Phases, outlookOf, tellStory } from '../../judge/index.ts';
import { afterInterrupt, type BoundedStep, type Database } from '../../run/index.ts';
import { say } from '../command.ts';
import { onInterrupt } from '../guard.ts';
import type { RunHooks } from '../library/run-plan.ts';
import { startProgress, type LogProgress, type Wait } from './progress.ts';

/** `perform` gets the hooks of the run; the clock is the run's own. */
export async function onTerminal<V>(
  database: Database,
  perform: (watch: (clock: Clock) => RunHooks) => Promise<V>,
): Promise<V> {
  let progress: LogProgress | undefined;
  // Lines quote the engine, the cluster and the database.
  const sayStep = (line: string): void => progress?.say(plainText(line));
  let current: BoundedStep = 'prepare';
  let sinceMs = performance.now();
  const unhealed: string[] = [];
  using interrupt = onInterrupt(sayStep, () => timeLeft(current, performance.now() - sinceMs));
  // From then on each step has as long as it has after an interrupt.
  interrupt.signal.addEventListener('abort', () => (sinceMs = performance.now()));
  try {
    return await perform((clock) => {
      const shown = startProgress(process.stderr, clock);
      progress = shown;
      return {
        onProgress: sayStep,
        onPhase: (phase) => shown.phase(phase),
        onStep: (step) => ([current, sinceMs] = [step, performance.now()]),
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

/** What comes after an interrupt, in its order. */
const wayHome: readonly BoundedStep[] = [
  ...(['heal', 'undo-remedy', 'undo-move-back', 'stop-observers'] as const),
  ...(['stop-writers', 'export-writes', 'close'] as const),
];

/** For a second Ctrl-C: `heal, at most 72 s more; all of it at most 362 s`. */
function timeLeft(step: BoundedStep, spentMs: number): string {
  const stepMs = afterInterrupt(step).mostMs - spentMs;
  // A cluster that never came up has nothing but itself to take back.
  const later =
    step === 'prepare' ? (['clean-up'] as const) : wayHome.slice(wayHome.indexOf(step) + 1);
  const allMs = later.reduce((sum, each) => sum + afterInterrupt(each).mostMs, stepMs);
  const [stepS, allS] = [stepMs, allMs].map((ms) => Math.max(1, Math.ceil(ms / 1000)));
  return `${step}, at most ${stepS} s more; all of it at most ${allS} s`;
}

/** The runner itself reports the first commits; a node may come and go. */
const news: Readonly<Partial<Record<keyof Phases, string>>> = {
  evicted: 'the pod is Terminating',
  podRemoved: 'the old pod is gone',
  detached: 'the volume is detached from the old node',
  attached: 'the volume is attached to another node',
  secondMount: 'another node mounted the volume',
  recovered: 'the successor is Ready',
};

/** Observations that a phase or a wait is read from; others come ten times a second. */
const decisive: ReadonlySet<string> = new Set([
  ...[observed.nodeReady, observed.podRunning, observed.podTerminating, observed.podGone],
  ...[observed.podReady, observed.attachmentGone, observed.attachmentAttached],
  ...[observed.mounted, observed.unmounted, observed.leaderAcquired, observed.csiCall],
]);

function isDecisive(record: HistoryRecord): record is SmallRecord {
  if (record.type === 'observation') return decisive.has(record.name);
  return ['run', 'setup', 'phase', 'action'].includes(record.type);
}

/** A wait is reported once more when it is late by so much. */
const lateMs = 15_000;

/** Reports each record as it comes: what has just happened, and what the run waits for. */
function narrating(output: LogProgress, database: Database): (record: HistoryRecord) => void {
  const records: SmallRecord[] = [];
  const done = new Set<string>();
  let wait: Wait | undefined;
  let faultAtMs: number | undefined;
  let wasReady = true;
  const once = (line: string, act: () => void): void => {
    if (!done.has(line)) act();
    done.add(line);
  };
  const waitFor = (next: Wait | undefined, nowMs: number): void => {
    if (next?.clause !== wait?.clause) output.wait(next);
    else if (next?.dueAtMs !== undefined && nowMs > next.dueAtMs + lateMs) {
      once(next.clause, () => output.wait(next));
    }
    wait = next;
  };
  return (record) => {
    if (!isDecisive(record)) {
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
    const came = Object.entries(news).filter(([phase]) => phases[phase as keyof Phases] !== null);
    for (const line of [...came.map(([, line]) => line), ...refused]) {
      once(line, () => output.say(line));
    }
    const { clause, dueS = Infinity } = waiting ?? {};
    waitFor(
      clause === undefined ? undefined : { clause, dueAtMs: (faultAtMs ?? 0) + dueS * 1000 },
      record.t,
    );
  };
}

/** Of the victim, once there is one. */
function readinessIn(record: SmallRecord, victim: string | undefined): boolean | undefined {
  if (record.type !== 'observation' || victim === undefined) return undefined;
  if (record.name !== observed.nodeReady || record.node !== victim) return undefined;
  return record.data.status === 'True';
}
