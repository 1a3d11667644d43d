/** When the run's fault held its victim, by its own records: what it claims is claimed of that span. */
import type { ActionRecord } from '../../history/events.ts';
import type { SmallRecord } from '../../history/reader.ts';
import type { Story } from '../../timeline/story.ts';

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

/** Of the scenario's fault. Undefined where it never was in place. */
export function faultSpanOf({
  records,
  scenario,
  faultName,
  healAtMs,
}: Story): FaultSpan | undefined {
  const span = spanOf(records, faultName, healAtMs);
  if (span === undefined || scenario.fault !== 'flapping-partition') return span;
  return { ...span, toMs: Math.min(span.toMs, span.fromMs + scenario.flapDownMs) };
}

/** Of the first fault with that name. One that is not given back by itself ends with the heal. */
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
