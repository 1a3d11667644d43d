/**
 * How long each phase of a run may take on the run's own clock. A call that never returns must not
 * keep the heal away: what does not end in time is asked to stop and given up, and the run goes on.
 */
import type { Clock } from '../cluster/clock.ts';
import { EvidenceError } from '../errors.ts';
import type { Scenario } from './scenario.ts';

type Times = Pick<
  Scenario,
  | 'warmupMs'
  | 'horizonMs'
  | 'overlapMs'
  | 'patienceMs'
  | 'convergeMs'
  | 'recreations'
  | 'serverKills'
>;

/** What calls, probes and copies may take beside the waits that a scenario asks for. */
const callsMs = 900_000;
/**
 * Images that are built and clusters that are made in line, an audit of millions of rows among those
 * of seven other volumes: nobody waits so long for what still works.
 */
const longMs = 7_200_000;
/** recreate.ts waits so long for each pod. */
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
  'lead-up': ({ serverKills }: Times): number => serverKills * serverKillMs + callsMs,
  fault: (): number => callsMs,
  watch: ({ horizonMs, overlapMs, patienceMs, recreations }: Times): number =>
    horizonMs + overlapMs + patienceMs + recreations * recreationMs + callsMs,
  'ask-again': (): number => callsMs,
  'first-image': (): number => callsMs,
  'move-back': (): number => callsMs,
  heal: (): number => callsMs,
  converge: ({ convergeMs }: Times): number => convergeMs + callsMs,
  'undo-remedy': (): number => callsMs,
  'undo-move-back': (): number => callsMs,
  'stop-writers': (): number => callsMs,
  'second-image': (): number => callsMs,
  'stop-observers': (): number => callsMs,
  'remove-database': (): number => callsMs,
  audit: (): number => longMs,
  'export-writes': (): number => longMs,
  /** Runs that share a fault event end together. */
  close: (): number => longMs,
} as const;

export interface Bound {
  /** What is given up, in words of the history. */
  readonly what: string;
  /** On the clock's time line. */
  readonly deadlineMs: number;
  /** An interrupt, passed on to the work. A heal has none: it runs to its end all the same. */
  readonly signal?: AbortSignal;
}

/** Rejects at the deadline; the work is told by its signal, and what comes of it later is dropped. */
export async function within<T>(
  clock: Clock,
  { what, deadlineMs, signal }: Bound,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const asked = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
  const timeout = async (): Promise<never> => {
    await clock.sleep(Math.max(0, deadlineMs - clock.nowMs()), over.signal);
    throw new EvidenceError('GIVEN_UP', `${what} did not end in time and was given up`);
  };
  try {
    return await Promise.race([work(asked), timeout()]);
  } finally {
    over.abort();
  }
}
