/** Durations as people write them: `30s`, `6m`, `500ms`, `1h`; a bare number is seconds. */

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

/** Where one of the times, in order, is later by more than `withinMs` than the one before it. */
export const silencesIn = (times: readonly number[], withinMs: number): string[] =>
  times.slice(1).flatMap((t, index) => {
    const before = times[index] ?? t;
    return t - before > withinMs ? [toldSpan(before, t)] : [];
  });

/** The shortest exact way to write it: 360000 → `6m`, 90000 → `90s`, 500 → `500ms`. */
export function formatDuration(ms: number): string {
  if (ms !== 0 && ms % unitsMs.m === 0) return `${ms / unitsMs.m}m`;
  return ms % unitsMs.s === 0 ? `${ms / unitsMs.s}s` : `${ms}ms`;
}

/** `361.6 s`; at most three decimals, none where there are none. */
export const secondsShown = (s: number): string => `${Number(s.toFixed(s < 10 ? 3 : 1))} s`;
