/** Bytes written per device since it was attached: a line each on the time axis. */
import type { ObservationRecord } from '../history/events.ts';
import { observed } from '../history/observations.ts';
import type { Series } from './types.ts';

const mebibyte = 1024 * 1024;

export class Written {
  readonly #points = new Map<string, [number, number][]>();

  see({ name, node = '', data, t }: ObservationRecord): void {
    if (name !== observed.deviceWritten) return;
    const device = data['device'];
    const line = typeof device === 'string' ? `${node} ${device}` : node;
    const points = this.#points.get(line) ?? [];
    this.#points.set(line, points);
    points.push([t, Number(data['bytesWritten'] ?? 0) / mebibyte]);
  }

  /** Times become seconds after `zeroMs`. */
  result(zeroMs: number): Series[] {
    return [...this.#points]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, points]) => ({
        name,
        points: points
          .map(([t, mib]) => [Math.round(t - zeroMs) / 1000, Math.round(mib * 100) / 100] as const)
          .filter((point, index, all) => turns(point[1], all[index - 1]?.[1], all[index + 1]?.[1])),
      }));
  }
}

/** A counter that stands still needs its first and its last point only. */
const turns = (value: number, before: number | undefined, after: number | undefined): boolean =>
  value !== before || value !== after;
