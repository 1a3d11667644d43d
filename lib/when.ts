/** When a fault or a remedy acts: at an event of the run, or so long after the fault. */
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

/** `half-wait`: half of the wait for a forced detach after `pod-gone`. */
type Happening = keyof typeof shownBy | 'half-wait';

/** An event, or so many milliseconds after the fault. */
export type When = Happening | number;

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

export const isSeen = (event: keyof typeof shownBy, seen: WhenState): boolean =>
  shownBy[event](seen);

/** For a sentence: the event's name, or `20m after the fault`. */
export const whenInWords = (when: When): string =>
  typeof when === 'number' ? `${formatDuration(when)} after the fault` : when;
