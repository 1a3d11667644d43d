/** Durations as people write them: `30s`, `6m`, `500ms`, `1h`; a bare number is seconds. */

const unitsMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/** Milliseconds, whole; undefined where the text is no duration. */
export function parseDurationMs(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text.trim());
  if (match === null) return undefined;
  const unit = (match[2] ?? 's') as keyof typeof unitsMs;
  return Math.round(Number(match[1]) * unitsMs[unit]);
}

/** For a sentence: 41000 → `41.0 s`. */
export const toldInSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** The shortest exact way to write it: 360000 → `6m`, 90000 → `90s`, 500 → `500ms`. */
export function formatDuration(ms: number): string {
  if (ms !== 0 && ms % unitsMs.m === 0) return `${ms / unitsMs.m}m`;
  return ms % unitsMs.s === 0 ? `${ms / unitsMs.s}s` : `${ms}ms`;
}
