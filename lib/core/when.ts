/** When a fault or a remedy acts, or is taken back: at an event of the run, or so long after what it follows. */
import { formatDuration } from './durations.ts';

/** What whoever looks on has seen so far: the runner by its records, a sweep by the model. */
interface WhenState {
  readonly victimTerminating: boolean;
  readonly victimNotReady: boolean;
  readonly victimGone: boolean;
  readonly successorPending: boolean;
  readonly victimDetached: boolean;
}

/** What shows each event. */
const shownBy = {
  terminating: (seen) => seen.victimTerminating,
  'not-ready': (seen) => seen.victimNotReady,
  'pod-gone': (seen) => seen.victimGone,
  'successor-pending': (seen) => seen.successorPending,
  'force-detach': (seen) => seen.victimDetached,
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
