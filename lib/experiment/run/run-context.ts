/** What a run's phases share: its options, its recorder, and the bound that each phase has. */
import type {
  Backend,
  CommonTestbed,
  KubernetesTestbed,
  TestbedOptions,
} from '../../cluster/port.ts';
import type { Barrier } from '../../cluster/barrier.ts';
import type { HistoryRecord, PhaseName } from '../../history/events.ts';
import type { Recorder } from '../../history/port.ts';
import type { ImageLabel } from '../../storage/identity.ts';
import type { RunRecorder } from '../../history/recorder.ts';
import { afterInterrupt, boundMs, within, type BoundedStep, type Times } from './bounds.ts';
import type { Custom } from './custom.ts';
import type { Sightings } from './sightings.ts';
import type { Steps } from './steps.ts';
import { describeError } from '../../errors.ts';

export interface RunOptions extends Omit<TestbedOptions, 'recorder' | 'event'> {
  readonly backend: Backend;
  /** What the caller brought along. Default: all is ours. */
  readonly custom?: Custom;
  /** Paste-ready command that repeats this run. */
  readonly replay: string;
  readonly onPhase: (phase: PhaseName) => void;
  /** What the run does next, of which each has its bound. Default: nobody is told. */
  readonly onStep?: (step: BoundedStep) => void;
  /** What could not be mended or taken away, with a command where one helps. Default: the history alone says it. */
  readonly onUnhealed?: (what: string) => void;
  /** Hears what the recorder's listeners hear, from the first record on. Default: nobody. */
  readonly onRecord?: (record: HistoryRecord) => void;
  /** The event of several runs, a volume each, whose victims one fault strikes. Default: alone. */
  readonly event?: Barrier;
}

export interface Run extends Omit<RunOptions, 'backend'> {
  readonly recorder: RunRecorder;
  readonly testbed: KubernetesTestbed;
  readonly steps: Steps;
  readonly sightings: Sightings;
  readonly times: Times;
  /** Audits that fall into the waits of a shared event: one after the other they take minutes. */
  readonly audits: Promise<unknown>[];
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
