/** What a run's phases share: its volumes, their recorders, and the bound that each phase has. */
import type { Capability } from '../../capabilities.ts';
import type {
  Backend,
  BreakableTestbed,
  CommonTestbed,
  KubernetesTestbed,
  TestbedOptions,
} from '../../cluster/port.ts';
import type { Database } from '../../database/port.ts';
import type { HistoryRecord, PhaseName } from '../../history/events.ts';
import type { Recorder } from '../../history/port.ts';
import type { ImageLabel } from '../../storage/identity.ts';
import type { RunRecorder } from '../../history/recorder.ts';
import { afterInterrupt, boundMs, within, type BoundedStep, type Times } from './bounds.ts';
import type { Custom } from './custom.ts';
import type { Sightings } from './sightings.ts';
import type { Steps } from './steps.ts';
import { describeError } from '../../errors.ts';
import type { Writers } from '../../workload/port.ts';

/** One volume of a run, with a database of its own, and who is told of it. */
export interface VolumeRunOptions extends Omit<TestbedOptions, 'recorder' | 'signal' | 'database'> {
  /** Paste-ready command that repeats it alone. */
  readonly replay: string;
  readonly onPhase: (phase: PhaseName) => void;
  /** What is done next, of which each has its bound. Default: nobody is told. */
  readonly onStep?: (step: BoundedStep) => void;
  /** What could not be mended or taken away, with a command where one helps. Default: the history alone says it. */
  readonly onUnhealed?: (what: string) => void;
  /** Hears what the recorder's listeners hear, from the first record on. Default: nobody. */
  readonly onRecord?: (record: HistoryRecord) => void;
}

/** What the volumes of a run have in common: one cluster, one kind of database, one fault, one interrupt. */
export interface EventOptions {
  readonly backend: Backend;
  readonly database: Database;
  /** What the caller brought along. Default: all is ours. */
  readonly custom?: Custom;
  readonly signal: AbortSignal;
}

/** A run of one volume. */
export interface RunOptions extends VolumeRunOptions, EventOptions {}

/** What is struck, once for all volumes. */
export interface RunEvent extends Omit<EventOptions, 'backend'> {
  /** Known to have what the run needs. */
  readonly cluster: BreakableTestbed<Capability>;
}

/** One volume in its run. */
export interface Run
  extends VolumeRunOptions,
    Pick<EventOptions, 'database' | 'custom' | 'signal'> {
  readonly recorder: RunRecorder;
  readonly attempt: AttemptWork;
  readonly testbed: KubernetesTestbed;
  readonly steps: Steps;
  readonly sightings: Sightings;
  readonly times: Times;
  /** No other volume waits for what this one could do later. */
  readonly isAlone: boolean;
  /** Audits that fall into the waits for other volumes: one after the other they take minutes. */
  readonly audits: Promise<unknown>[];
  /** Nothing more is done with it but its end, once it failed. */
  readonly state: VolumeState & { writers?: Writers };
}

/** How a volume fares. */
export interface VolumeState {
  failure?: { readonly error: unknown };
}

export function enter(
  run: Pick<Run, 'recorder'> & Partial<Pick<Run, 'onPhase'>>,
  phase: PhaseName,
): void {
  run.onPhase?.(phase);
  run.recorder.record({ type: 'phase', phase });
}

type Bounded = Pick<Run, 'times' | 'signal' | 'onStep'> & {
  readonly testbed: Pick<CommonTestbed, 'clock'>;
};

/** A phase, or a part of one, within its bound; where that passes it is given up, named in the error. */
export function bounded<T>(
  { testbed, times, signal, onStep }: Bounded,
  step: BoundedStep,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  onStep?.(step);
  const deadlineMs = testbed.clock.nowMs() + boundMs(step, times);
  const interrupt = { signal, ...afterInterrupt(step) };
  return within(testbed.clock, { what: step, deadlineMs, interrupt }, work);
}

export const auditOf = (run: Run, image: ImageLabel): Promise<void> =>
  bounded(run, 'audit', async (signal) => run.steps.cold?.audit(image, signal));

/** Resolves to whether the work was done. */
export type AttemptWork = (where: string, work: () => Promise<unknown>) => Promise<boolean>;

/** `onFailure`: hears of each. Default: only the history does. */
export const attempting =
  (recorder: Recorder, onFailure?: (where: string, message: string) => void): AttemptWork =>
  async (where, work) => {
    try {
      await work();
      return true;
    } catch (error) {
      const message = describeError(error);
      recorder.record({ type: 'error', where, message });
      onFailure?.(where, message);
      return false;
    }
  };

/**
 * Does it side by side for each that has not failed; resolves to what those gave that did not fail now.
 * A failure ends the one that had it, and no other.
 */
export async function each<R extends { readonly state: VolumeState }, T>(
  all: readonly R[],
  work: (one: R) => Promise<T>,
): Promise<T[]> {
  const done = await Promise.all(
    all.map(async (one) => {
      if (one.state.failure !== undefined) return [];
      try {
        return [await work(one)];
      } catch (error) {
        one.state.failure = { error };
        return [];
      }
    }),
  );
  return done.flat();
}

/** Does it once for all of them; a failure is in each one's history. Resolves to whether it was done. */
export async function once(
  all: readonly Pick<Run, 'attempt'>[],
  where: string,
  work: () => Promise<unknown>,
): Promise<boolean> {
  const done = work();
  const outcomes = await Promise.all(all.map(({ attempt }) => attempt(where, () => done)));
  return outcomes.every(Boolean);
}

/** Writes to every one's history what is seen or done once for all. */
export const recorderOf = (all: readonly Pick<Run, 'recorder'>[]): Pick<Recorder, 'record'> => ({
  record: (record) => {
    for (const { recorder } of all) recorder.record(record);
  },
});
