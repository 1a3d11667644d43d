/** Bytes written per device since it was attached: a line each on the time axis. */
import type { ObservationRecord } from '../history/events.ts';
import { observed } from '../history/observations.ts';
import type { Series } from './axis/operations.ts';

const mebibyte = 1024 * 1024;

/** Times become seconds after `zeroMs`. */
export function writtenSeries(
  observations: readonly ObservationRecord[],
  zeroMs: number,
): Series[] {
  const lines = Map.groupBy(
    observations.filter(({ name }) => name === observed.deviceWritten),
    ({ node = '', data: { device } }) => (typeof device === 'string' ? `${node} ${device}` : node),
  );
  return [...lines]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, seen]) => ({
      name,
      points: seen
        .map(({ t, data }) => {
          const mib = Number(data['bytesWritten'] ?? 0) / mebibyte;
          return [Math.round(t - zeroMs) / 1000, Math.round(mib * 100) / 100] as const;
        })
        .filter((point, index, all) => turns(point[1], all[index - 1]?.[1], all[index + 1]?.[1])),
    }));
}

/** A counter that stands still needs its first and its last point only. */
const turns = (value: number, before: number | undefined, after: number | undefined): boolean =>
  value !== before || value !== after;
