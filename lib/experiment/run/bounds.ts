/**
 * How long each phase of a run may take on the run's own clock. A call that never returns must not
 * keep the heal away: what does not end in time is asked to stop and given up, and the run goes on.
 * An interrupt shortens all that is left.
 */
import type { Clock } from '../../clock.ts';
import { EvidenceError } from '../../errors.ts';
import type { Scenario } from '../scenario.ts';
import type { Steps } from './steps.ts';

export type Times = Pick<
  Scenario,
  | 'warmupMs'
  | 'horizonMs'
  | 'overlapMs'
  | 'patienceMs'
  | 'convergeMs'
  | 'recreations'
  | 'serverKills'
> &
  Pick<Steps, 'leastMs'>;

/** Times of a run that no scenario asks to wait. */
export const noTimes: Times = {
  ...{ warmupMs: 0, horizonMs: 0, overlapMs: 0, patienceMs: 0, convergeMs: 0 },
  ...{ recreations: 0, serverKills: 0, leastMs: 0 },
};

/** What calls, probes and copies may take beside the waits that a scenario asks for. */
const callsMs = 900_000;
/**
 * Images that are built and clusters that are made in line, an audit of millions of rows among those
 * of seven other volumes: nobody waits so long for what still works.
 */
const longMs = 7_200_000;
/** move-back.ts waits so long for each pod. */
const recreationMs = 300_000;
/** server-kills.ts waits so long for each restart. */
const serverKillMs = 200_000;

/** Not the remedy's own bound: that is the horizon. */
export const boundsMs = {
  prepare: (): number => longMs,
  'clean-up': (): number => callsMs,
  observe: (): number => callsMs,
  'start-writers': (): number => callsMs,
  steady: ({ warmupMs }: Times): number => warmupMs + callsMs,
  /** The two-kernel lab's: each wait of its schedule has a bound of its own. */
  case: (): number => longMs,
  'lead-up': ({ serverKills }: Times): number => serverKills * serverKillMs + callsMs,
  fault: (): number => callsMs,
  watch: ({ horizonMs, overlapMs, patienceMs, recreations, leastMs }: Times): number =>
    horizonMs + overlapMs + patienceMs + recreations * recreationMs + leastMs + callsMs,
  'ask-again': (): number => callsMs,
  'first-image': (): number => callsMs,
  'move-back': (): number => callsMs,
  heal: (): number => callsMs,
  converge: ({ convergeMs }: Times): number => convergeMs + callsMs,
  'undo-remedy': (): number => callsMs,
  'undo-move-back': (): number => callsMs,
  /** Its waits have their own ends; with stock timers the longest take eight minutes. */
  procedure: (): number => 2 * callsMs,
  'stop-writers': (): number => callsMs,
  'second-image': (): number => callsMs,
  'stop-observers': (): number => callsMs,
  'remove-database': (): number => callsMs,
  audit: (): number => longMs,
  'export-writes': (): number => longMs,
  /** Runs that share a fault event end together. */
  close: (): number => longMs,
} as const;

export type BoundedStep = keyof typeof boundsMs;

interface AfterInterrupt {
  /** The step goes on so long after the interrupt, and is then given up. */
  readonly mostMs: number;
  /** It hears of the interrupt and ends by itself; what mends does not: it goes to its end. */
  readonly isTold: boolean;
}

/** Time that the last call of what looks on or reads may take: it ends at once. */
const endsMs = 5000;
const ends: AfterInterrupt = { mostMs: endsMs, isTold: true };
const goesOn = (mostMs: number): AfterInterrupt => ({ mostMs, isTold: false });

/**
 * A healthy engine needs seconds for each; these are for one that is slow or hangs. What was begun
 * to be broken is broken whole, since the heal must find what it mends.
 */
export const afterInterrupt: Readonly<Record<BoundedStep, AfterInterrupt>> = {
  // A creation that is cut short is removed again.
  prepare: goesOn(180_000),
  'clean-up': goesOn(120_000),
  observe: goesOn(endsMs),
  'start-writers': goesOn(endsMs),
  steady: ends,
  case: { mostMs: 20_000, isTold: true },
  'lead-up': ends,
  fault: goesOn(20_000),
  watch: { mostMs: 20_000, isTold: true },
  'ask-again': ends,
  'first-image': ends,
  'move-back': ends,
  // The engine's calls end after 60 s, and say what is to be done by hand.
  heal: goesOn(75_000),
  converge: ends,
  procedure: { mostMs: 20_000, isTold: true },
  'undo-remedy': goesOn(30_000),
  'undo-move-back': goesOn(30_000),
  // Writers that do not stop are killed after 7 s.
  'stop-writers': goesOn(10_000),
  'second-image': ends,
  'stop-observers': goesOn(10_000),
  'remove-database': goesOn(40_000),
  audit: ends,
  'export-writes': goesOn(30_000),
  close: goesOn(180_000),
};

export interface Bound {
  /** What is given up, in words of the history. */
  readonly what: string;
  /** On the clock's time line. */
  readonly deadlineMs: number;
  /** The run's interrupt. Default: none can come. */
  readonly interrupt?: { readonly signal: AbortSignal } & AfterInterrupt;
}

/**
 * Rejects at the deadline, or so long after an interrupt; the work is told by its signal, and what
 * comes of it later is dropped.
 */
export async function within<T>(
  clock: Clock,
  { what, deadlineMs, interrupt }: Bound,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const told = interrupt?.isTold === true ? [interrupt.signal, over.signal] : [over.signal];
  const until = async (atMs: number, cause?: unknown): Promise<never> => {
    await clock.sleep(Math.max(0, atMs - clock.nowMs()), over.signal);
    throw new EvidenceError('GIVEN_UP', `${what} did not end in time and was given up`, { cause });
  };
  const hurried = async ({ signal, mostMs }: NonNullable<Bound['interrupt']>): Promise<never> => {
    await aborted(signal, over.signal);
    return until(clock.nowMs() + mostMs, signal.reason);
  };
  try {
    return await Promise.race([
      work(AbortSignal.any(told)),
      until(deadlineMs),
      ...(interrupt === undefined ? [] : [hurried(interrupt)]),
    ]);
  } finally {
    over.abort();
  }
}

/** Resolves once `signal` aborts; never where `unless` did before. */
const aborted = (signal: AbortSignal, unless: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true, signal: unless });
  });
