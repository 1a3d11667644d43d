/** Did the machine keep time? A run that starved for processor time says nothing of times. */
import type { MachineRecord } from '../../history/events.ts';
import type { Story } from '../../timeline/story.ts';

/** How the reason begins that says the run starved for processor time. */
export const starvedReason = 'the machine did not keep time';

/** Of a verdict's reasons: its machine did not keep time, so what it says of times is no measurement. */
export const isStarved = (reasons: readonly string[]): boolean =>
  reasons.some((reason) => reason.startsWith(starvedReason));

/** A timer that fires later than this says the machine did not keep time. */
const timerLagLimitMs = 2000;

type Span = Pick<Story, 'records' | 'faultAtMs' | 'secondImageAtMs'>;

/** From the fault to the second image: nothing before or after depends on the time it takes. */
export function machineRecordsOf({
  records,
  faultAtMs = 0,
  secondImageAtMs,
}: Span): MachineRecord[] {
  const untilMs = secondImageAtMs ?? Number.POSITIVE_INFINITY;
  return records
    .filter((record) => record.type === 'machine')
    .filter(({ t }) => t >= faultAtMs && t < untilMs);
}

/** How late each timer of a second fired, milliseconds, from the fault to the second image. */
export const timerLagsOf = (span: Span): number[] =>
  machineRecordsOf(span).map((each) => each.timerLagMs);

export function lateTimers(story: Story): string[] {
  const worstMs = Math.max(0, ...timerLagsOf(story));
  return worstMs > timerLagLimitMs
    ? [`${starvedReason}: a timer fired ${Math.round(worstMs)} ms late`]
    : [];
}
