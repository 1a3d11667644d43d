/**
 * What surrounds a run, whatever is done in it: a history of each volume from its first record to its
 * list, what is opened and closed for all, observers that look on, and the bound of each step. A failure in
 * here ends in the history.
 */
import { type Clock, EvidenceError, describeError } from '../core/index.ts';
import type { CommonTestbed, Opened, TestbedOptions } from './ports/cluster.ts';
import {
  type HistoryRecord,
  type PhaseName,
  type RowRecord,
  type SegmentCounts,
  type Recorder,
  type Unstamped,
  openRecorder,
  type RunRecorder,
} from '../history/index.ts';
import { boundMs, within, type BoundedStep, type Times } from './moments.ts';

/** Steps whose failure leaves something broken, or behind. */
const mending = new Set(['heal', 'undo remedy', 'undo move back', 'close']);

/** Who hears of one volume. Default: nobody. */
export interface Listeners extends Pick<TestbedOptions, 'onProgress'> {
  readonly onPhase?: (phase: PhaseName) => void;
  /** What is done next, of which each has its bound. */
  readonly onStep?: (step: BoundedStep) => void;
  /** What could not be mended or taken away, with a command where one helps: also in the history. */
  readonly onUnhealed?: (what: string) => void;
  /** Hears what the recorder's listeners hear, from the first record on. */
  readonly onRecord?: (record: HistoryRecord) => void;
}

interface Member extends Listeners {
  readonly recorder: Pick<Recorder, 'record'>;
}

interface Around {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly times?: Times;
}

/** What a run does with one volume, or once for several of them: each one's history has it. */
export class Shell {
  readonly #members: readonly Member[];
  readonly #around: Around;

  constructor(members: readonly Member[], around: Around) {
    this.#members = members;
    this.#around = around;
  }

  /** `runs`: at least one. */
  static together(runs: readonly { readonly shell: Shell }[]): Shell {
    const [first] = runs;
    if (first === undefined) throw new RangeError('a run has at least one volume');
    return new Shell(
      runs.flatMap(({ shell }) => shell.#members),
      first.shell.#around,
    );
  }

  withTimes(times: Times): Shell {
    return new Shell(this.#members, { ...this.#around, times });
  }

  record(record: Unstamped | RowRecord): void {
    for (const { recorder } of this.#members) recorder.record(record);
  }

  enter(phase: PhaseName): void {
    for (const { onPhase } of this.#members) onPhase?.(phase);
    this.record({ type: 'phase', phase });
  }

  onProgress(line: string): void {
    for (const { onProgress } of this.#members) onProgress(line);
  }

  /** Resolves to whether the work was done; why not is in each one's history. */
  async attempt(where: string, work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      const message = describeError(error);
      this.record({ type: 'error', where, message });
      if (mending.has(where)) {
        for (const { onUnhealed } of this.#members) onUnhealed?.(`${where}: ${message}`);
      }
      return false;
    }
  }

  /** A step within its bound; where that passes it is given up, named in the error. */
  bounded<T>(step: BoundedStep, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    for (const { onStep } of this.#members) onStep?.(step);
    return this.until(step, {}, work);
  }

  /** As `bounded`, for what goes on beside a step: its own name and deadline, and the step's interrupt. */
  until<T>(
    step: BoundedStep,
    { what = step, deadlineMs }: { readonly what?: string; readonly deadlineMs?: number },
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { clock, signal, times = {} } = this.#around;
    const endMs = deadlineMs ?? clock.nowMs() + boundMs(step, times);
    return within(clock, { what, deadlineMs: endMs, interrupt: signal, step }, work);
  }

  /** Both: an attempt at a bounded step. */
  step(
    step: BoundedStep,
    work: (signal: AbortSignal) => Promise<unknown>,
    where: string = step.replaceAll('-', ' '),
  ): Promise<boolean> {
    return this.attempt(where, () => this.bounded(step, work));
  }
}

/** Does it side by side; resolves to what those gave that did not fail. A failure ends no other one. */
export async function each<R extends { readonly shell: Shell }, T>(
  runs: readonly R[],
  where: string,
  work: (run: R) => Promise<T>,
): Promise<T[]> {
  const done = await Promise.all(
    runs.map(async (run) => {
      const results: T[] = [];
      await run.shell.attempt(where, async () => results.push(await work(run)));
      return results;
    }),
  );
  return done.flat();
}

/** One volume's history, and who hears of it. */
export interface ObservedVolume extends Listeners {
  /** It exists, and holds no history yet. */
  readonly folder: string;
  /** The first record: what this run is. */
  readonly first: Unstamped;
}

interface Writing {
  readonly recorder: RunRecorder;
  readonly shell: Shell;
}
type Written<V extends ObservedVolume = ObservedVolume> = V & Writing;

/** `V`: what is known of each volume, which comes back with it. */
export interface ObservedOptions<
  O extends Opened<CommonTestbed>,
  V extends ObservedVolume = ObservedVolume,
> {
  readonly volumes: readonly V[];
  /** Runs from the run's beginning. */
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly open: (
    volumes: readonly (V & Pick<TestbedOptions, 'recorder' | 'signal'>)[],
  ) => Promise<O>;
}

type VolumeOf<O> = O extends Opened<infer T> ? T : never;

/** One volume that was opened. */
export interface ObservedRun<T extends CommonTestbed = CommonTestbed>
  extends ObservedVolume,
    Writing {
  readonly testbed: T;
  /** Of the history, that others have written: whoever ends them puts them here. */
  readonly segments: Record<string, SegmentCounts>;
}

/**
 * Resolves to how it ended for each. One is rejected, with a ForcedetachError, only where nothing could be
 * set up, or `HISTORY_UNWRITABLE` once all is closed; other trouble is in the history. `work` ends all that
 * it begins, and must not reject.
 */
export async function runObserved<
  O extends Opened<CommonTestbed>,
  V extends ObservedVolume = ObservedVolume,
>(
  options: ObservedOptions<O, V>,
  work: (volumes: readonly (V & ObservedRun<VolumeOf<O>>)[], opened: O) => Promise<unknown>,
): Promise<readonly PromiseSettledResult<void>[]> {
  const { clock, volumes: all } = options;
  const written = all.map((volume): Written<V> => {
    const recorder = openRecorder(volume.folder, clock);
    if (volume.onRecord !== undefined) recorder.subscribe(volume.onRecord);
    recorder.record(volume.first);
    const shell = new Shell([{ ...volume, recorder }], options);
    shell.enter('prepare');
    return { ...volume, recorder, shell };
  });
  try {
    const opened = await prepare(options, written);
    const volumes = written.flatMap((volume, index) =>
      begun<VolumeOf<O>, V>(volume, opened.volumes[index]),
    );
    try {
      await work(volumes, opened);
    } finally {
      await closeAll(options, opened, volumes);
    }
    return written.map((volume, index) => endOf(volume, opened.volumes[index]));
  } catch (error) {
    return written.map(() => ({ status: 'rejected', reason: error }));
  } finally {
    for (const { recorder } of written) recorder.close();
  }
}

/** Does it while observers look on at those that it is given; resolves as it does. It must not reject. */
export async function whileObserved<R extends ObservedRun, T>(
  runs: readonly R[],
  work: (runs: readonly R[]) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const looking = await each(runs, 'run', async (run) => {
    const { shell, testbed, recorder } = run;
    const observers = await shell.bounded('observe', () => testbed.observe(recorder));
    return { run, shell, observers };
  });
  const done = looking.length === 0 ? [] : await work(looking.map(({ run }) => run));
  await Promise.all(
    looking.map(({ shell, observers }) =>
      shell.step('stop-observers', async () => observers[Symbol.asyncDispose]()),
    ),
  );
  return done;
}

/** Throws what ended the first that did not come to its end. */
export function mustHaveEnded(ended: readonly PromiseSettledResult<void>[]): void {
  for (const each of ended) if (each.status === 'rejected') throw each.reason;
}

/** None where it was not opened. */
function begun<T extends CommonTestbed, V extends ObservedVolume>(
  written: Written<V>,
  result: PromiseSettledResult<unknown> | undefined,
): (V & ObservedRun<T>)[] {
  if (result?.status !== 'fulfilled') return [];
  const testbed = result.value as T;
  const { timers, versions, nodes, volume } = testbed;
  written.recorder.record({
    type: 'setup',
    ...(timers === undefined ? {} : { timers }),
    ...{ versions, nodes },
    ...(volume === undefined ? {} : { volume }),
  });
  return [{ ...written, testbed, segments: {} }];
}

async function closeAll(
  options: Pick<ObservedOptions<Opened<CommonTestbed>>, 'clock' | 'signal' | 'volumes'>,
  opened: Opened<CommonTestbed>,
  volumes: readonly ObservedRun[],
): Promise<void> {
  if (volumes.length > 0) await Shell.together(volumes).step('close', () => opened.close());
  else {
    const close = new Shell([], options).bounded('close', () => opened.close());
    await close.catch((error: unknown) => options.volumes[0]?.onProgress(describeError(error)));
  }
  for (const { recorder, segments } of volumes) recorder.list(segments);
}

function endOf(
  { folder, recorder }: Written,
  opening: PromiseSettledResult<unknown> | undefined,
): PromiseSettledResult<void> {
  if (opening?.status === 'rejected') return opening;
  const { failure: cause } = recorder;
  if (recorder.failure === undefined) return { status: 'fulfilled', value: undefined };
  const what = `the history is incomplete: ${String(cause)}`;
  const reason = new EvidenceError('HISTORY_UNWRITABLE', what, {
    hint: 'the fault is healed; free disk space, then make the report of what was recorded',
    command: `npx forcedetach report ${folder}`,
    cause,
  });
  return { status: 'rejected', reason };
}

/**
 * What is opened, within its bound: what opens too late is closed again. Rejects as `open` does, or with
 * EvidenceError `GIVEN_UP`.
 */
async function prepare<O extends Opened<CommonTestbed>, V extends ObservedVolume>(
  options: ObservedOptions<O, V>,
  written: readonly Written<V>[],
): Promise<O> {
  const around = new Shell([], options);
  // The testbed keeps the signal, so it is not that of the bound, which ends with it.
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const opening = options.open(written.map((volume) => ({ ...volume, signal })));
  try {
    return await around.bounded('prepare', () => opening);
  } catch (error) {
    stop.abort(error);
    const close = around.bounded('clean-up', async () => (await opening).close());
    await close.catch((left: unknown) => {
      // An opening that failed has its own error.
      if (left === error) return;
      const message = describeError(left);
      for (const { shell } of written) {
        shell.record({ type: 'error', where: 'clean-up', message });
        shell.onProgress(message);
      }
    });
    throw error;
  }
}
