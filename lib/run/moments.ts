/** The run's own clock: how long each step may take, waiting for a condition, and the moments of faults and remedies. */
import { type Clock, EvidenceError, delayedOf, isSeen, type When } from '../core/index.ts';
import type { Sightings } from '../judge/index.ts';
import type { Moments } from './faults/fault.ts';
import { type Settings, recreationMs, restartMs } from '../scenario/index.ts';

interface WaitUntilOptions {
  /** On the clock's time line, not a duration. */
  readonly deadlineMs: number;
  /** Default 100. */
  readonly everyMs?: number;
  readonly signal: AbortSignal;
}

/** True as soon as the condition holds, false at the deadline. Rejects when aborted. */
export async function waitUntil(
  clock: Clock,
  condition: () => boolean,
  { deadlineMs, everyMs = 100, signal }: WaitUntilOptions,
): Promise<boolean> {
  while (!condition()) {
    const leftMs = deadlineMs - clock.nowMs();
    if (leftMs <= 0) return false;
    await clock.sleep(Math.min(everyMs, leftMs), signal);
  }
  return true;
}

/**
 * How long each phase of a run may take on the run's own clock. A call that never returns must not
 * keep the heal away: what does not end in time gets the signal to stop and is given up, and the run goes on.
 * An interrupt shortens all that is left.
 */
export type Times = Settings & { readonly leastMs?: number };

/** What calls, probes and copies may take beside the waits of a scenario. */
const callsMs = 900_000;
/**
 * Images that are built and clusters that are made in line, an audit of millions of rows among those
 * of seven other volumes: nobody waits so long for what still works.
 */
const longMs = 7_200_000;
/** Each kill and the wait for the restart, as around.ts does them. */
const serverKillMs = restartMs + 20_000;

interface AfterInterrupt {
  /** The step goes on so long after the interrupt, and is then given up. */
  readonly mostMs: number;
  /** Its signal is aborted, so that it ends by itself; what mends is spared: it goes to its end. */
  readonly aborts: boolean;
}

/** Time that the last call of what looks on or reads may take: it ends at once. */
const endsMs = 5000;
const ends: AfterInterrupt = { mostMs: endsMs, aborts: true };
const abortsWithin = (mostMs: number): AfterInterrupt => ({ mostMs, aborts: true });
const goesOn = (mostMs: number): AfterInterrupt => ({ mostMs, aborts: false });

/**
 * What each step may take, and what an interrupt leaves of that. A healthy engine needs seconds for
 * each; these are for one that is slow or hangs. What was begun to be broken is broken whole, since
 * the heal must find what it mends. The watch has not the remedy's own bound: that is the horizon.
 */
const bounds = {
  // A creation that is cut short is removed again.
  prepare: [longMs, goesOn(180_000)],
  'clean-up': [callsMs, goesOn(120_000)],
  observe: [callsMs, goesOn(endsMs)],
  'start-writers': [callsMs, goesOn(endsMs)],
  steady: [({ watch: { warmup: warmupMs = 0 } = {} }: Times): number => warmupMs + callsMs, ends],
  // The two-kernel lab's: each wait of its schedule has a bound of its own.
  case: [longMs, abortsWithin(20_000)],
  'lead-up': [
    ({ fault: { serverKills = 0 } = {} }: Times): number => serverKills * serverKillMs + callsMs,
    ends,
  ],
  fault: [callsMs, goesOn(20_000)],
  watch: [
    ({
      watch: { horizon: horizonMs = 0, overlap: overlapMs = 0, patience: patienceMs = 0 } = {},
      fault: { recreations = 0 } = {},
      leastMs = 0,
    }: Times): number =>
      horizonMs + overlapMs + patienceMs + recreations * recreationMs + leastMs + callsMs,
    abortsWithin(20_000),
  ],
  'ask-again': [callsMs, ends],
  'first-image': [callsMs, ends],
  'move-back': [callsMs, ends],
  // The engine's calls end after 60 s, with what is to be done by hand.
  heal: [callsMs, goesOn(75_000)],
  converge: [
    ({ watch: { converge: convergeMs = 0 } = {} }: Times): number => convergeMs + callsMs,
    ends,
  ],
  'undo-remedy': [callsMs, goesOn(30_000)],
  'undo-move-back': [callsMs, goesOn(30_000)],
  // Its waits have their own ends; with stock timers the longest take eight minutes.
  procedure: [2 * callsMs, abortsWithin(20_000)],
  // Writers that do not stop are killed after 7 s.
  'stop-writers': [callsMs, goesOn(10_000)],
  'second-image': [callsMs, ends],
  'stop-observers': [callsMs, goesOn(10_000)],
  'remove-database': [callsMs, goesOn(40_000)],
  audit: [longMs, ends],
  'export-writes': [longMs, goesOn(30_000)],
  // Runs that share a fault event end together.
  close: [longMs, goesOn(180_000)],
} as const satisfies Record<
  string,
  readonly [most: number | ((times: Times) => number), AfterInterrupt]
>;
export type BoundedStep = keyof typeof bounds;

export function boundMs(step: BoundedStep, times: Times): number {
  const [most] = bounds[step];
  return typeof most === 'number' ? most : most(times);
}

export const afterInterrupt = (step: BoundedStep): AfterInterrupt => bounds[step][1];

interface Bound {
  readonly what: string;
  /** On the clock's time line. */
  readonly deadlineMs: number;
  readonly interrupt: AbortSignal;
  readonly step: BoundedStep;
}

/**
 * Rejects at the deadline, or so long after an interrupt; the work gets an aborted signal, and what
 * comes of it later is dropped.
 */
export async function within<T>(
  clock: Clock,
  { what, deadlineMs, interrupt, step }: Bound,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { mostMs, aborts } = afterInterrupt(step);
  const over = new AbortController();
  const until = async (atMs: number, cause?: unknown): Promise<never> => {
    await clock.sleep(Math.max(0, atMs - clock.nowMs()), over.signal);
    throw new EvidenceError('GIVEN_UP', `${what} did not end in time and was abandoned`, { cause });
  };
  const interrupted = async (): Promise<never> => {
    await new Promise<void>((resolve) => {
      if (interrupt.aborted) resolve();
      else interrupt.addEventListener('abort', () => resolve(), { signal: over.signal });
    });
    return until(clock.nowMs() + mostMs, interrupt.reason);
  };
  try {
    const signal = aborts ? AbortSignal.any([interrupt, over.signal]) : over.signal;
    return await Promise.race([work(signal), until(deadlineMs), interrupted()]);
  } finally {
    over.abort();
  }
}

interface Watched {
  readonly clock: Clock;
  /** Of each volume: a moment of the fault has come when it has for one of them. */
  readonly sightings: readonly Sightings[];
  readonly faultAtMs: number;
  readonly forceDetachAfterMs: number;
}

/** Watches, and lets `goOn` act meanwhile; resolves once both have ended. `goOn` must not reject. */
export async function watchWhile<T>(
  options: Watched & {
    /** Ends what goes on also where the watch itself hangs in a call. */
    readonly signal?: AbortSignal;
  },
  goOn: (moments: Moments) => Promise<unknown>,
  watching: () => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const { clock, faultAtMs } = options;
  const signal = AbortSignal.any([over.signal, ...(options.signal ? [options.signal] : [])]);
  const reached = async (moment: When): Promise<boolean> => {
    const isNow = (): boolean => volumesAt(moment, options) > 0;
    try {
      return await waitUntil(clock, isNow, { deadlineMs: Number.MAX_SAFE_INTEGER, signal });
    } catch (error) {
      if (signal.aborted) return false;
      throw error;
    }
  };
  const going = goOn({
    reached,
    passed: (ms) => reached(clock.nowMs() + ms - faultAtMs),
    areMountedOn: (node) => options.sightings.map(({ mountedOn }) => mountedOn.has(node)),
  });
  try {
    return await watching();
  } finally {
    over.abort();
    await going;
  }
}

/** Pods of one node are evicted one after the other, within a second. */
const othersWithinMs = 10_000;

/**
 * False where it did not come by the deadline. What is done once for all volumes waits until it has come
 * for each, since each history must show it; where it never does for one, the others do not wait for it long.
 */
export async function cameForAll(
  moment: When,
  watched: Watched,
  { deadlineMs, signal }: Pick<WaitUntilOptions, 'deadlineMs' | 'signal'>,
): Promise<boolean> {
  const { clock, sightings } = watched;
  const cameFor = (least: number, untilMs: number): Promise<boolean> =>
    waitUntil(clock, () => volumesAt(moment, watched) >= least, { deadlineMs: untilMs, signal });
  if (!(await cameFor(1, deadlineMs))) return false;
  await cameFor(sightings.length, Math.min(clock.nowMs() + othersWithinMs, deadlineMs));
  return true;
}

function volumesAt(
  moment: When,
  { clock, sightings, faultAtMs, forceDetachAfterMs }: Watched,
): number {
  const { event, afterMs } = delayedOf(moment, { forceDetachAfterMs });
  return sightings.filter((one) => {
    if (event === undefined) return clock.nowMs() >= faultAtMs + afterMs;
    if (afterMs === 0) return isSeen(event, one);
    // Nothing else is waited for so long after it.
    return clock.nowMs() >= (one.victimGoneAtMs ?? Infinity) + afterMs;
  }).length;
}
