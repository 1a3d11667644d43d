/** Time: durations as people write them, the clock as a port and the machine's own, events of a run, and waiting. */
import { setTimeout as sleep } from 'node:timers/promises';
import { InfrastructureError } from './errors.ts';

const unitsMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/** No wait is longer: a timer of Node's that is set beyond 24.8 days fires at once. */
export const longestMs = 24 * unitsMs.h;

/**
 * Milliseconds; undefined where the text is no duration, or one that is no whole number of them:
 * rounded, a small one would be none at all.
 */
export function parseDurationMs(text: string): number | undefined {
  const match = /^(\d{1,15}(?:\.\d{1,15})?)(ms|s|m|h)?$/.exec(text.trim());
  if (match === null) return undefined;
  const unit = (match[2] ?? 's') as keyof typeof unitsMs;
  // 0.1 s has no exact number; what is meant is within a billionth of a whole one.
  const ms = Number((Number(match[1]) * unitsMs[unit]).toPrecision(12));
  return Number.isInteger(ms) ? ms : undefined;
}

/** For a sentence: 41 → `41.0 s`. */
export const secondsInWords = (s: number): string => `${s.toFixed(1)} s`;

/** For a sentence: 41000 → `41.0 s`. */
export const toldInSeconds = (ms: number): string => secondsInWords(ms / 1000);

/** For a sentence: `from 41.0 s to 50.0 s`. */
export const toldSpan = (fromMs: number, toMs: number): string =>
  `from ${toldInSeconds(fromMs)} to ${toldInSeconds(toMs)}`;

/** The shortest exact way to write it: 360000 → `6m`, 90000 → `90s`, 500 → `500ms`. */
export function formatDuration(ms: number): string {
  if (ms !== 0 && ms % unitsMs.m === 0) return `${ms / unitsMs.m}m`;
  return ms % unitsMs.s === 0 ? `${ms / unitsMs.s}s` : `${ms}ms`;
}

/** `361.6 s`; at most three decimals, none where there are none. */
export const secondsShown = (s: number): string => `${Number(s.toFixed(s < 10 ? 3 : 1))} s`;

/** A port: nothing above lib/run/ports reads a real clock or timer. */
export interface Clock {
  /** Monotonic milliseconds since the run began, with fractions. */
  nowMs(): number;
  /** Wall time, Unix milliseconds. On the model it starts at a fixed date. */
  wallMs(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A timer of Node's that is set for longer fires at once. */
const longestTimerMs = 2 ** 31 - 1;

/**
 * The machine's clock. CLOCK_MONOTONIC (process.hrtime) is one time base for every process and
 * container of the machine, so a run's origin handed on makes all their times comparable.
 */
export interface RealClock extends Clock {
  /** CLOCK_MONOTONIC when the run began, nanoseconds: give it to every process of the run. */
  readonly originNs: bigint;
}

export function realClock(originNs: bigint = process.hrtime.bigint()): RealClock {
  const offsetMs = offsetFrom(originNs);
  return {
    originNs,
    nowMs: () => performance.now() + offsetMs,
    wallMs: () => Date.now(),
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      try {
        const options = signal === undefined ? {} : { signal };
        for (let leftMs = Math.max(0, ms); ; leftMs -= longestTimerMs) {
          await sleep(Math.min(leftMs, longestTimerMs), undefined, options);
          if (!(leftMs > longestTimerMs)) return;
        }
      } catch (error) {
        // Node wraps the reason in an AbortError of its own; the port promises the reason itself.
        signal?.throwIfAborted();
        throw error;
      }
    },
  };
}

/**
 * What to add to performance.now(), which reads hrtime's clock at a third of its price: writers ask
 * three times an operation. A process may lose the processor between two readings, so the pair
 * that took the least time is believed.
 */
function offsetFrom(originNs: bigint): number {
  let least = Number.POSITIVE_INFINITY;
  let offsetMs = 0;
  for (let reading = 0; reading < 8; reading += 1) {
    const before = process.hrtime.bigint();
    const nowMs = performance.now();
    const tookNs = Number(process.hrtime.bigint() - before);
    if (tookNs >= least) continue;
    least = tookNs;
    offsetMs = (Number(before - originNs) + tookNs / 2) / 1e6 - nowMs;
  }
  return offsetMs;
}

/** What whoever looks on has seen so far: the runner by its records, a sweep by the model. */
interface WhenState {
  readonly victimTerminating: boolean;
  readonly victimNotReady: boolean;
  readonly victimGone: boolean;
  readonly successorPending: boolean;
  readonly victimDetached: boolean;
  readonly successorMounted: boolean;
  readonly successorReady: boolean;
}

/** What shows each event. */
const shownBy = {
  terminating: (seen) => seen.victimTerminating,
  'not-ready': (seen) => seen.victimNotReady,
  'pod-gone': (seen) => seen.victimGone,
  'successor-pending': (seen) => seen.successorPending,
  'force-detach': (seen) => seen.victimDetached,
  'second-mount': (seen) => seen.successorMounted,
  'successor-ready': (seen) => seen.successorReady,
} satisfies Readonly<Record<string, (seen: WhenState) => boolean>>;

type ShownEvent = keyof typeof shownBy;
type Happening = ShownEvent | 'half-wait';

/** An event, or so many milliseconds after the fault; for what takes a remedy back, after the remedy. */
export type When<Event extends WhenEvent = Happening> = Event | number;
export type WhenEvent = Happening | (typeof undoEvents)[number];

/** Those that a fault may wait for. A seed of the sweep draws by the order: a new one goes last. */
export const faultEvents = [
  'terminating',
  'pod-gone',
  'half-wait',
  'force-detach',
] as const satisfies readonly Happening[];
/** And a second fault. */
export const alsoEvents = [...faultEvents, 'second-mount', 'successor-ready'] as const;
/** And a remedy. */
export const remedyEvents = [
  'terminating',
  'not-ready',
  'pod-gone',
  'successor-pending',
] as const satisfies readonly Happening[];

/** And what takes one back: a database that serves again, the heal, the end of the bound to converge. */
export const undoEvents = ['end', 'heal', 'kept'] as const;

export const isSeen = (event: ShownEvent, seen: WhenState): boolean => shownBy[event](seen);

/** So long after an event that is seen; without one, after the fault. */
interface Delayed {
  readonly event?: ShownEvent;
  readonly afterMs: number;
}

export function delayedOf(
  when: When,
  { forceDetachAfterMs }: { readonly forceDetachAfterMs: number },
): Delayed {
  if (typeof when === 'number') return { afterMs: when };
  if (when === 'half-wait') return { event: 'pod-gone', afterMs: forceDetachAfterMs / 2 };
  return { event: when, afterMs: 0 };
}

/** For a sentence: the event's name, or `20m after the fault`. */
export const whenInWords = (when: When): string =>
  typeof when === 'number' ? `${formatDuration(when)} after the fault` : when;

interface WaitForOptions {
  /** What is awaited, for the error: `the pod is Ready`. */
  readonly what: string;
  readonly timeoutMs: number;
  /** Between two looks; default 250. */
  readonly everyMs?: number;
  readonly signal?: AbortSignal | undefined;
  /** A command that shows more, for the error. */
  readonly command?: string;
}

/**
 * Calls `look` until it resolves to something other than a string; a string says what is still
 * missing. Errors of `look` are taken for such answers too: an API server may be away for a while.
 * A look that never ends is left alone at the time's end or the abort: each call has its own end.
 * Throws InfrastructureError `TIMED_OUT` with the last answer.
 */
export async function waitFor<T extends object | true>(
  options: WaitForOptions,
  look: () => Promise<T | string>,
): Promise<T> {
  const { what, timeoutMs, everyMs = 250, signal, command } = options;
  const over = new AbortController();
  const asked = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
  let last: unknown = new Error('nothing was observed');
  const late = async (): Promise<never> => {
    // A timer that holds the process, as whoever waits wants to hear.
    await sleep(timeoutMs, undefined, { signal: asked });
    const message = `timed out after ${timeoutMs / 1_000} s: waiting until ${what}`;
    const detail = { cause: last, ...(command === undefined ? {} : { command }) };
    throw new InfrastructureError('TIMED_OUT', message, detail);
  };
  const looking = async (): Promise<T> => {
    for (;;) {
      try {
        const seen = await look();
        if (typeof seen !== 'string') return seen;
        last = new Error(seen);
      } catch (error) {
        last = error;
      }
      await sleep(everyMs, undefined, { signal: asked });
    }
  };
  try {
    signal?.throwIfAborted();
    return await Promise.race([looking(), late()]);
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    over.abort();
  }
}
