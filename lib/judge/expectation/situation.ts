/** A scenario by what decides its outcome, and the form of the reasons that ask for it. */
import {
  isOverAtOnce,
  unsettlesAttachments,
  type FieldValue,
  type Scenario,
  type SettableName,
} from '../../scenario/index.ts';
import { volumeReleaseOf, type Release } from './release.ts';
import type { VerdictWord } from '../verdict/verdict.ts';

/** What decides an outcome beside the fields of a scenario. */
interface Factors {
  /** Whether a sidecar that can act ends the database before a successor can be let in. */
  readonly selfFenced: 'in time' | 'late' | 'never';
  /** An idle victim has few writes under way, and may do no harm. */
  readonly victim: 'busy' | 'idle';
  /** When `ack-early` cuts: before a successor can mount, while it may, before the heal, or later. */
  readonly cut: 'at once' | 'soon' | 'before the heal' | 'late';
  /** What takes the volume from a living victim whose node is off, see paths.ts. */
  readonly release: Release;
  /** Whether the attachment may count as uncertain while the storage lets the next node in. */
  readonly attachment: 'counted' | 'perhaps uncertain';
  readonly watchEnds: 'after the hand-over' | 'perhaps before it';
}

export type Situation = Scenario & Factors;

/** A successor needs more than this from the detach's answer to its first write. */
const soonestMountMs = 500;
/** And mostly less than this: 51 of 54 second mounts after a forced delete (reports/matrix). */
const latestMountMs = 7000;

/** Controllers look every few seconds, and an attach and a mount follow. */
const handOverSlackMs = 60_000;

/** From the fault to the hand-over, by the timers in force; a second fault that lasts holds it up. */
function handOverMs(scenario: Scenario): number {
  const {
    timers: { grace: graceMs, toleration: tolerationMs, forceDetachAfter: forceDetachAfterMs },
    remedy: { at: remedyAt },
  } = scenario;
  const {
    also: { kind: also, at: alsoAt, for: alsoForMs },
  } = scenario;
  const evictedMs = graceMs + tolerationMs;
  const goneMs = typeof remedyAt === 'number' ? Math.max(evictedMs, remedyAt) : evictedMs;
  const waitsMs = volumeReleaseOf(scenario) === 'timeout' ? forceDetachAfterMs : 0;
  const ownMs = goneMs + waitsMs;
  if (also === 'none' || isOverAtOnce(also)) return ownMs;
  const alsoFrom = { terminating: 0, 'pod-gone': 0, 'half-wait': 0.5, 'force-detach': 1 } as const;
  const alsoMs =
    typeof alsoAt === 'number' ? alsoAt : goneMs + alsoFrom[alsoAt] * forceDetachAfterMs;
  return Math.max(ownMs, alsoMs + alsoForMs);
}

export function situationOf(scenario: Scenario): Situation {
  const {
    disk: { cutAfter: cutAfterMs },
    watch: { overlap: overlapMs, horizon: horizonMs },
    load: { rate },
  } = scenario;
  const isSoon = handOverMs(scenario) + handOverSlackMs <= horizonMs;
  const laterCut = cutAfterMs <= overlapMs ? 'before the heal' : 'late';
  const cut = cutAfterMs <= latestMountMs ? 'soon' : laterCut;
  return {
    ...scenario,
    victim: rate === 0 ? 'idle' : 'busy',
    cut: cutAfterMs <= soonestMountMs ? 'at once' : cut,
    release: volumeReleaseOf(scenario),
    selfFenced: selfFenced(scenario),
    watchEnds: isSoon ? 'after the hand-over' : 'perhaps before it',
    attachment: unsettlesAttachments(scenario.also.kind) ? grantedAs(scenario) : 'counted',
  };
}

const grantedAs = ({ disk: { attachWhileBusy } }: Scenario): Situation['attachment'] =>
  attachWhileBusy === 'granted' ? 'perhaps uncertain' : 'counted';

/** The sidecar's look, its kill and the remount, on a machine that keeps time. */
const selfFenceTakesMs = 2000;
const standStill: readonly Scenario['fault']['kind'][] = ['freeze', 'cpu-starvation'];

function selfFenced(scenario: Scenario): Situation['selfFenced'] {
  const {
    selfFence: { kind: selfFence, after: selfFenceAfterMs },
    timers: { grace: graceMs },
    fault: { kind: fault, link },
  } = scenario;
  if (selfFence === 'off' || standStill.includes(fault) || link !== 'survives') return 'never';
  return selfFenceAfterMs + selfFenceTakesMs <= graceMs ? 'in time' : 'late';
}

/** Of a node that is cut off from its disk while its database acknowledges early. */
export const unflushedAtCut =
  'a fence takes what the victim had acknowledged and not flushed, if there is any';

/** One reason why a verdict is no surprise. */
export interface ExpectationReason {
  /** Each factor named has one of these values. */
  readonly when: { readonly [F in keyof Factors]?: readonly Factors[F][] } & {
    readonly [F in SettableName]?: readonly FieldValue<F>[];
  };
  /** All that it can come to. */
  readonly verdicts: readonly VerdictWord[];
  readonly because: string;
}

/** Two nodes could write, and did: what it came to differs. */
export const overlapping = ['exposed', 'lost', 'corrupt'] as const;
