/** The GTIDs that a binary log holds, by the server that gave them, as a set in MySQL's words. */

export class GtidIntervals {
  readonly #byServer = new Map<string, [number, number][]>();
  /** GTIDs that came more than once. */
  duplicates = 0;

  /** `server`: its UUID's 32 hexadecimal digits. */
  add(server: string, number: number): void {
    let intervals = this.#byServer.get(server);
    if (intervals === undefined) this.#byServer.set(server, (intervals = []));
    const last = intervals.at(-1);
    if (last !== undefined && number === last[1] + 1) last[1] = number;
    else intervals.push([number, number]);
  }

  /** `uuid:1-5:8,…`, merged and in order; counts what came twice. */
  toSet(): string {
    this.duplicates = 0;
    const servers = [...this.#byServer].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return servers
      .map(([server, intervals]) => `${uuidOf(server)}:${this.#merged(intervals).join(':')}`)
      .join(',');
  }

  #merged(intervals: readonly [number, number][]): string[] {
    const merged: [number, number][] = [];
    for (const [from, to] of intervals.toSorted((a, b) => a[0] - b[0])) {
      const last = merged.at(-1);
      if (last === undefined || from > last[1] + 1) {
        merged.push([from, to]);
        continue;
      }
      this.duplicates += Math.max(0, Math.min(to, last[1]) - from + 1);
      last[1] = Math.max(last[1], to);
    }
    return merged.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`));
  }
}

const uuidOf = (hex: string): string =>
  [
    [0, 8],
    [8, 12],
    [12, 16],
    [16, 20],
    [20, 32],
  ]
    .map(([a, b]) => hex.slice(a, b))
    .join('-');
