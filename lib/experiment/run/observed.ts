/**
 * What surrounds a run, whatever is done in it: a history of each volume from its first record to its
 * list, what is opened and closed for all, observers that look on. A failure in here ends in the history.
 */
import type { Clock } from '../../clock.ts';
import type { CommonTestbed, Opened, TestbedOptions } from '../../cluster/port.ts';
import type { Unstamped } from '../../history/port.ts';
import { EvidenceError, describeError } from '../../errors.ts';
import type { SegmentList } from '../../history/events.ts';
import { openRecorder, type RunRecorder } from '../../history/recorder.ts';
import {
  attempting,
  bounded,
  each,
  enter,
  once,
  type AttemptWork,
  type RunOptions,
  type VolumeState,
} from './run-context.ts';
import { noTimes, afterInterrupt, boundMs, within } from './bounds.ts';

/** One volume's history, and who is told of it. */
export interface ObservedVolume
  extends Pick<RunOptions, 'onProgress' | 'onStep' | 'onUnhealed' | 'onRecord'>,
    Partial<Pick<RunOptions, 'onPhase'>> {
  /** It exists, and holds no history yet. */
  readonly folder: string;
  /** The first record: what this run is. */
  readonly first: Unstamped;
}

interface Written extends ObservedVolume {
  readonly recorder: RunRecorder;
}

export interface ObservedOptions<O extends Opened<CommonTestbed>> {
  readonly volumes: readonly ObservedVolume[];
  /** Runs from the run's beginning. */
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly open: (volumes: readonly Pick<TestbedOptions, 'recorder' | 'signal'>[]) => Promise<O>;
}

type VolumeOf<O> = O extends Opened<infer T> ? T : never;

/** One volume that was opened. */
export interface ObservedRun<T extends CommonTestbed = CommonTestbed> extends Written {
  /** Its place among those that were asked for. */
  readonly index: number;
  readonly testbed: T;
  readonly attempt: AttemptWork;
  readonly state: VolumeState;
}

/** What is done in a run. What rejects for one volume ends in its history. */
export interface Work {
  /** While observers look on; must not reject. */
  whileObserved(): Promise<unknown>;
  /** Once nobody looks on any more, for those with whom all went well so far. Default: nothing. */
  afterwards?(): Promise<unknown>;
  /**
   * Ends what was begun with one, however far that came. Resolves to the segments of the history that
   * others have written. Default: there is nothing to end.
   */
  end?(volume: ObservedRun): Promise<SegmentList>;
}

/** Steps whose failure leaves something broken, or behind. */
const mending = new Set(['heal', 'undo remedy', 'undo move back', 'close']);

/**
 * Resolves to how it ended for each. One is rejected, with a ForcedetachError, only where nothing could be
 * set up, or `HISTORY_UNWRITABLE` once all is closed; other trouble is in the history.
 */
export async function runObserved<O extends Opened<CommonTestbed>>(
  options: ObservedOptions<O>,
  workOn: (volumes: readonly ObservedRun<VolumeOf<O>>[], opened: O) => Work,
): Promise<readonly PromiseSettledResult<void>[]> {
  const written = options.volumes.map((volume): Written => {
    const recorder = openRecorder(volume.folder, options.clock);
    if (volume.onRecord !== undefined) recorder.subscribe(volume.onRecord);
    recorder.record(volume.first);
    enter({ ...volume, recorder }, 'prepare');
    return { ...volume, recorder };
  });
  let opened: O;
  try {
    opened = await prepare(options, written);
  } catch (error) {
    for (const { recorder } of written) recorder.close();
    return written.map(() => ({ status: 'rejected', reason: error }));
  }
  try {
    const volumes = written.flatMap((volume, index) => begun<VolumeOf<O>>(volume, index, opened));
    await perform(options, { volumes, opened }, workOn(volumes, opened));
  } finally {
    for (const { recorder } of written) recorder.close();
  }
  return written.map((volume, index) => {
    const result = opened.volumes[index];
    if (result?.status === 'rejected') return result;
    const { failure } = volume.recorder;
    return failure === undefined
      ? { status: 'fulfilled', value: undefined }
      : { status: 'rejected', reason: unwritable(volume.folder, failure) };
  });
}

/** Throws what ended the first that did not come to its end. */
export function mustHaveEnded(ended: readonly PromiseSettledResult<void>[]): void {
  for (const each of ended) if (each.status === 'rejected') throw each.reason;
}

/** None where it was not opened. */
function begun<T extends CommonTestbed>(
  written: Written,
  index: number,
  opened: Opened<CommonTestbed>,
): ObservedRun<T>[] {
  const result = opened.volumes[index];
  if (result?.status !== 'fulfilled') return [];
  const testbed = result.value as T;
  const { recorder } = written;
  const { timers, versions, nodes, volume } = testbed;
  recorder.record({
    type: 'setup',
    ...(timers === undefined ? {} : { timers }),
    ...{ versions, nodes },
    ...(volume === undefined ? {} : { volume }),
  });
  const attempt = attempting(recorder, (where, message) => {
    if (mending.has(where)) written.onUnhealed?.(`${where}: ${message}`);
  });
  return [{ ...written, index, testbed, attempt, state: {} }];
}

interface ObservedStage {
  readonly volumes: readonly ObservedRun[];
  readonly opened: Opened<CommonTestbed>;
}

async function perform(
  { clock, signal, volumes: asked }: Omit<ObservedOptions<Opened<CommonTestbed>>, 'open'>,
  { volumes, opened }: ObservedStage,
  work: Work,
): Promise<void> {
  const about = { signal, times: noTimes };
  const looking = await each(volumes, async (volume) => {
    const { testbed, recorder } = volume;
    const observing = { ...volume, ...about };
    const observers = await bounded(observing, 'observe', () => testbed.observe(recorder));
    return { volume, observing, observers };
  });
  if (looking.length > 0) await work.whileObserved();
  await Promise.all(
    looking.map(({ volume: { attempt }, observing, observers }) =>
      attempt('stop observers', () =>
        bounded(observing, 'stop-observers', async () => observers[Symbol.asyncDispose]()),
      ),
    ),
  );
  await work.afterwards?.();
  const ends = await Promise.all(
    volumes.map(async (volume) => {
      const { attempt, recorder, state } = volume;
      const { failure } = state;
      if (failure !== undefined) await attempt('run', () => Promise.reject(failure.error));
      const written = (await work.end?.(volume)) ?? {};
      return { recorder, written };
    }),
  );
  const closing = { ...about, testbed: { clock }, ...toldOf(volumes) };
  const close = (): Promise<void> => bounded(closing, 'close', () => opened.close());
  if (volumes.length > 0) await once(volumes, 'close', close);
  else await close().catch((error: unknown) => asked[0]?.onProgress(describeError(error)));
  for (const { recorder, written } of ends) recorder.list(written);
}

/** What is begun once for all is told to each. */
export const toldOf = (
  volumes: readonly Pick<RunOptions, 'onStep'>[],
): Required<Pick<RunOptions, 'onStep'>> => ({
  onStep: (step) => {
    for (const { onStep } of volumes) onStep?.(step);
  },
});

const unwritable = (folder: string, cause: unknown): EvidenceError =>
  new EvidenceError('HISTORY_UNWRITABLE', `the history is incomplete: ${String(cause)}`, {
    hint: 'the fault is healed; free disk space, then make the report of what was recorded',
    command: `npx forcedetach report ${folder}`,
    cause,
  });

/**
 * What is opened, within its bound: what opens too late is closed again. Rejects as `open` does, or with
 * EvidenceError `GIVEN_UP`.
 */
async function prepare<O extends Opened<CommonTestbed>>(
  { clock, open, signal }: ObservedOptions<O>,
  written: readonly Written[],
): Promise<O> {
  // The testbed keeps the signal, so it is not that of the bound, which ends with it.
  const stop = new AbortController();
  const stopped = AbortSignal.any([signal, stop.signal]);
  const opening = open(written.map(({ recorder }) => ({ recorder, signal: stopped })));
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
      for (const { recorder, onProgress } of written) {
        recorder.record({ type: 'error', where: 'clean-up', message });
        onProgress(message);
      }
    });
    throw error;
  }
}
