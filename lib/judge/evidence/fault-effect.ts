/**
 * What the fault did to Kubernetes and to the clients, held against what its certificates claim: a
 * kubelet that is not heard makes its node NotReady and keeps it so, and a victim that is cut off
 * serves nobody outside.
 */
import { toldInSeconds } from '../../core/index.ts';
import { cutsClientsOff, delaysNotReady, silencesKubelet } from '../../scenario/index.ts';
import type { CutOffAnswers, CutOffWindow } from '../timeline/cut-off-answers.ts';
import { milestones, type MilestoneName } from '../timeline/milestones.ts';
import { rolesIn } from '../timeline/roles.ts';
import type { Story } from '../timeline/story.ts';
import type { ActionRecord, ObservationRecord, SmallRecord } from '../../history/index.ts';

/**
 * So much later than the grace period at the latest: the monitor looks every 5 s, and a busy API
 * server answers late. The committed runs show 13 s.
 */
const noticeWithinMs = 30_000;

/** A sentence where Kubernetes did not take the node for lost, or heard of it again. */
export function effectGaps(story: Story): string[] {
  const { scenario, faultName, setup, victimNode, observations } = story;
  const span = faultSpanOf(story);
  if (span === undefined || setup?.timers === undefined || !silencesKubelet(scenario.fault.kind))
    return [];
  const { beginMs, toMs } = span;
  const roles = rolesIn(story);
  const seen = observations.filter(({ t }) => t >= beginMs && t < toMs);
  const is = (name: MilestoneName, each: ObservationRecord): boolean =>
    milestones[name].is(each, roles);
  const lost = seen.find((each) => is('not-ready', each) || is('node-gone', each));
  const lastedMs = toMs - beginMs;
  if (lost === undefined) {
    const dueMs = setup.timers.nodeMonitorGraceMs + noticeWithinMs;
    if (lastedMs <= dueMs || delaysNotReady(scenario.also.kind)) return [];
    return [
      `the fault did not take effect on Kubernetes: ${victimNode} was never seen NotReady ` +
        `in ${toldInSeconds(lastedMs)} of ${faultName}`,
    ];
  }
  const back = seen.find((each) => each.t > lost.t && is('ready-again', each));
  return back === undefined
    ? []
    : [
        `${victimNode} was Ready again ${toldInSeconds(back.t - beginMs)} after the fault began, ` +
          `while ${faultName} is said to last until ${toldInSeconds(lastedMs)}`,
      ];
}

/** What was answered just before may come so late: on a busy machine a client reads late. */
const answersInFlightMs = 5000;

/** When no outside client can have an answer of the victim. Undefined where the fault leaves it one. */
export function cutOffWindowOf(story: Story): CutOffWindow | undefined {
  const { scenario, victimNode } = story;
  const span = faultSpanOf(story);
  if (span === undefined || victimNode === undefined || !cutsClientsOff(scenario.fault.kind)) {
    return undefined;
  }
  return { node: victimNode, fromMs: span.fromMs + answersInFlightMs, toMs: span.toMs };
}

/** A sentence where the victim answered all the same. */
export function refutedBy({ faultName, faultAtMs = 0 }: Story, answers: CutOffAnswers): string[] {
  const { count, firstMs } = answers;
  if (firstMs === undefined) return [];
  return [
    `an outside client had ${count} answers of the victim, from ${toldInSeconds(firstMs - faultAtMs)} ` +
      `after the fault began: ${faultName} did not cut it off`,
  ];
}

/** When the run's fault held its victim, by its own records: what it claims is claimed of that span. */
export interface FaultSpan {
  /** It began to break something. */
  readonly beginMs: number;
  /** It was in place. */
  readonly fromMs: number;
  /** It began to be given back; of a flapping partition, for the first time. */
  readonly toMs: number;
  /** Its victim may be whole from here on; what is over at once is so as soon as it is in place. */
  readonly overMs: number;
}

/** Span of the scenario's fault. Undefined where it never was in place. */
export function faultSpanOf(story: Story): FaultSpan | undefined {
  const { records, scenario, faultName, healAtMs } = story;
  const span = spanOf(records, faultName, healAtMs);
  if (span === undefined || scenario.fault.kind !== 'flapping-partition') return span;
  return { ...span, toMs: Math.min(span.toMs, span.fromMs + scenario.fault.down) };
}

/** Span of the first fault with that name. One that is not given back by itself ends with the heal. */
export function spanOf(
  records: readonly SmallRecord[],
  name: string,
  healAtMs: number,
): FaultSpan | undefined {
  const steps = records
    .filter((record) => record.type === 'action')
    .filter((record) => record.actor === 'fault' && record.name === name);
  const beginMs = stepAt(steps, 'begin');
  const fromMs = stepAt(steps, 'done');
  if (beginMs === undefined || fromMs === undefined) return undefined;
  const givenBackMs = stepAt(steps, 'heal') ?? stepAt(steps, 'healed');
  return {
    ...{ beginMs, fromMs },
    toMs: givenBackMs ?? healAtMs,
    overMs: givenBackMs ?? fromMs,
  };
}

const stepAt = (steps: readonly ActionRecord[], step: ActionRecord['step']): number | undefined =>
  steps.find((each) => each.step === step)?.t;
