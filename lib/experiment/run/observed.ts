/**
 * What surrounds a run, whatever is done in it: a history from its first record to its list, a testbed
 * that is opened and closed, observers that look on. A failure in here ends in the history.
 */
import type { Clock } from '../../clock.ts';
import type { CommonTestbed, TestbedOptions } from '../../cluster/port.ts';
import type { Unstamped } from '../../history/port.ts';
import { EvidenceError, describeError } from '../../errors.ts';
import type { SegmentList } from '../../history/events.ts';
import { openRecorder, type RunRecorder } from '../../history/recorder.ts';
import { attempting, bounded, enter, type AttemptWork, type RunOptions } from './run-context.ts';
import { noTimes, afterInterrupt, boundMs, within } from './bounds.ts';

type ObservedCallbacks = Pick<
  RunOptions,
  'onProgress' | 'onStep' | 'onUnhealed' | 'onRecord' | 'signal'
> &
  Partial<Pick<RunOptions, 'onPhase'>>;

export interface ObservedOptions<T extends CommonTestbed> extends ObservedCallbacks {
  /** The run's folder; it exists, and holds no history yet. */
  readonly folder: string;
  /** Runs from the run's beginning. */
  readonly clock: Clock;
  /** The first record: what this run is. */
  readonly first: Unstamped;
  readonly open: (options: Pick<TestbedOptions, 'recorder' | 'signal'>) => Promise<T>;
}

/** What is done in a run. Whatever rejects ends in the history. */
export interface Work {
  /** While observers look on. */
  whileObserved(attempt: AttemptWork): Promise<void>;
  /** Once nobody looks on any more, and only where all went well so far. Default: nothing. */
  afterwards?(): Promise<void>;
  /**
   * Ends what was begun, however far that came. Resolves to the segments of the history that others
   * have written. Default: there is nothing to end.
   */
  end?(attempt: AttemptWork): Promise<SegmentList>;
}

/** Steps whose failure leaves something broken, or behind. */
const mending = new Set(['heal', 'undo remedy', 'undo move back', 'close']);

/**
 * Throws ForcedetachError only when nothing could be set up, or `HISTORY_UNWRITABLE` once all is closed;
 * other trouble is in the history.
 */
export async function runObserved<T extends CommonTestbed>(
  options: ObservedOptions<T>,
  workOn: (stage: { readonly testbed: T; readonly recorder: RunRecorder }) => Work,
): Promise<void> {
  const { folder, clock, first, onRecord } = options;
  const recorder = openRecorder(folder, clock);
  if (onRecord !== undefined) recorder.subscribe(onRecord);
  recorder.record(first);
  enter({ ...options, recorder }, 'prepare');
  try {
    const testbed = await prepare({ ...options, recorder });
    const { timers, versions, nodes, volume } = testbed;
    recorder.record({
      type: 'setup',
      ...(timers === undefined ? {} : { timers }),
      ...{ versions, nodes },
      ...(volume === undefined ? {} : { volume }),
    });
    await perform({ ...options, testbed, recorder }, workOn({ testbed, recorder }));
  } finally {
    recorder.close();
  }
  if (recorder.failure !== undefined) throw unwritable(folder, recorder.failure);
}

type ObservedStage = Pick<ObservedOptions<CommonTestbed>, 'onStep' | 'onUnhealed' | 'signal'> & {
  readonly testbed: CommonTestbed;
  readonly recorder: RunRecorder;
};

async function perform(stage: ObservedStage, work: Work): Promise<void> {
  const { testbed, recorder } = stage;
  const run = { ...stage, times: noTimes };
  const attempt = attempting(recorder, (where, message) => {
    if (mending.has(where)) stage.onUnhealed?.(`${where}: ${message}`);
  });
  await attempt('run', async () => {
    const observers = await bounded(run, 'observe', () => testbed.observe(recorder));
    try {
      await work.whileObserved(attempt);
    } finally {
      await attempt('stop observers', () =>
        bounded(run, 'stop-observers', async () => observers[Symbol.asyncDispose]()),
      );
    }
    await work.afterwards?.();
  });
  const written = (await work.end?.(attempt)) ?? {};
  await attempt('close', () => bounded(run, 'close', () => testbed.close()));
  recorder.list(written);
}

const unwritable = (folder: string, cause: unknown): EvidenceError =>
  new EvidenceError('HISTORY_UNWRITABLE', `not all could be recorded: ${String(cause)}`, {
    hint: 'the fault was healed all the same; make room, then look at what was recorded',
    command: `npx zx experiments/report.mjs ${folder}`,
    cause,
  });

/** The testbed, within its bound: one that opens too late is closed again. */
interface Prepared<T> extends Pick<TestbedOptions, 'recorder' | 'onProgress' | 'signal'> {
  readonly clock: Clock;
  readonly open: (options: Pick<TestbedOptions, 'recorder' | 'signal'>) => Promise<T>;
}

/** Rejects as `open` does, or with EvidenceError `GIVEN_UP`. */
async function prepare<T extends Pick<CommonTestbed, 'close'>>({
  clock,
  open,
  recorder,
  onProgress,
  signal,
}: Prepared<T>): Promise<T> {
  // The testbed keeps the signal, so it is not that of the bound, which ends with it.
  const stop = new AbortController();
  const opening = open({ recorder, signal: AbortSignal.any([signal, stop.signal]) });
  const before = (what: 'prepare' | 'clean-up') => ({
    what,
    deadlineMs: clock.nowMs() + boundMs(what),
    interrupt: { signal, ...afterInterrupt(what) },
  });
  try {
    return await within(clock, before('prepare'), () => opening);
  } catch (error) {
    stop.abort(error);
    const closed = async (): Promise<void> => (await opening).close();
    await within(clock, before('clean-up'), closed).catch((left: unknown) => {
      // An opening that failed has said so itself.
      if (left === error) return;
      const message = describeError(left);
      recorder.record({ type: 'error', where: 'clean-up', message });
      onProgress(message);
    });
    throw error;
  }
}
