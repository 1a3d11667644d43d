/** Did the machine keep time, and was it looked after all the while? A run may starve unseen. */
import type { Story } from '../timeline/story.ts';

/** How the reason begins that says the run starved for processor time. */
export const starvedReason = 'the machine did not keep time';

/** Of a verdict's reasons: its machine did not keep time, so what it says of times is no measurement. */
export const isStarved = (reasons: readonly string[]): boolean =>
  reasons.some((reason) => reason.startsWith(starvedReason));

/** A timer that fires later than this says the machine did not keep time. */
const timerLagLimitMs = 2000;

/** It is looked at every second; a look on a busy machine takes some itself. */
const longestGapMs = 10_000;

/** Asked of histories that have ends, and only of a real machine: the model has none. */
export function machineGaps({
  hasEnds,
  run,
  records,
  faultAtMs,
  endAtMs,
}: Pick<Story, 'hasEnds' | 'run' | 'records' | 'faultAtMs' | 'endAtMs'>): string[] {
  if (!hasEnds || run.backend !== 'kind' || faultAtMs === undefined) return [];
  const copied = records.find((each) => each.type === 'phase' && each.phase === 'second-image');
  const untilMs = copied?.t ?? endAtMs;
  const seen = records
    .filter(({ type, t }) => type === 'machine' && t > faultAtMs && t < untilMs)
    .map(({ t }) => t);
  let lastMs = faultAtMs;
  for (const t of [...seen, untilMs]) {
    if (t - lastMs > longestGapMs) return [gap(lastMs, t)];
    lastMs = t;
  }
  return [];
}

const gap = (fromMs: number, toMs: number): string =>
  `nobody looked after the machine from ${(fromMs / 1000).toFixed(1)} s to ${(toMs / 1000).toFixed(1)} s`;

/**
 * How late each timer of a second fired, milliseconds, from the fault to the second image: nothing
 * before or after depends on the time it takes.
 */
export function timerLagsOf({
  records,
  faultAtMs = 0,
}: Pick<Story, 'records' | 'faultAtMs'>): number[] {
  const copied = records.find((each) => each.type === 'phase' && each.phase === 'second-image');
  const untilMs = copied?.t ?? Number.POSITIVE_INFINITY;
  return records
    .filter((record) => record.type === 'machine')
    .filter(({ t }) => t >= faultAtMs && t < untilMs)
    .map((each) => each.timerLagMs);
}

export function lateTimers(story: Story): string[] {
  const worstMs = Math.max(0, ...timerLagsOf(story));
  return worstMs > timerLagLimitMs
    ? [`${starvedReason}: a timer fired ${Math.round(worstMs)} ms late`]
    : [];
}
