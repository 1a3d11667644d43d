/** Sets of GTIDs as MySQL writes them: `uuid:1-5:8,uuid:1-3`. */

type GtidInterval = readonly [from: number, to: number];
type GtidSet = ReadonlyMap<string, readonly GtidInterval[]>;

/** Throws where the text is no GTID set. */
export function parseGtids(text: string): GtidSet {
  const set = new Map<string, GtidInterval[]>();
  for (const part of text.split(',').filter((each) => each.trim() !== '')) {
    const [uuid = '', ...intervals] = part.trim().split(':');
    const parsed = intervals.map((interval): GtidInterval => {
      const match = /^(\d+)(?:-(\d+))?$/.exec(interval);
      if (match === null) throw new Error(`no GTID set: ${text}`);
      return [Number(match[1]), Number(match[2] ?? match[1])];
    });
    set.set(uuid, [...(set.get(uuid) ?? []), ...parsed]);
  }
  return set;
}

/** In order, what touches or overlaps as one. */
export function union(...sets: readonly GtidSet[]): GtidSet {
  const all = new Map<string, GtidInterval[]>();
  for (const set of sets) {
    for (const [uuid, intervals] of set) {
      all.set(uuid, merged([...(all.get(uuid) ?? []), ...intervals]));
    }
  }
  return new Map([...all].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function merged(intervals: readonly GtidInterval[]): GtidInterval[] {
  const found: [number, number][] = [];
  for (const [from, to] of intervals.toSorted((a, b) => a[0] - b[0])) {
    const last = found.at(-1);
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else found.push([from, to]);
  }
  return found;
}

const countOf = (intervals: readonly GtidInterval[]): number =>
  intervals.reduce((count, [from, to]) => count + to - from + 1, 0);

export const sizeOf = (set: GtidSet): number => countOf([...set.values()].flat());

/** What a binary log holds, by the server that gave them. */
export class GtidIntervals {
  readonly #byServer = new Map<string, [number, number][]>();

  /** `server`: its UUID's 32 hexadecimal digits. */
  add(server: string, number: number): void {
    let intervals = this.#byServer.get(server);
    if (intervals === undefined) this.#byServer.set(server, (intervals = []));
    const last = intervals.at(-1);
    if (last !== undefined && number === last[1] + 1) last[1] = number;
    else intervals.push([number, number]);
  }

  /** The set in MySQL's words, and how many came more than once. */
  result(): { readonly gtids: string; readonly duplicateGtids: number } {
    const all = new Map([...this.#byServer].map(([server, each]) => [uuidOf(server), each]));
    const set = union(all);
    return { gtids: writeGtids(set), duplicateGtids: sizeOf(all) - sizeOf(set) };
  }
}

/** Dashes behind 8, 12, 16 and 20 digits. */
const uuidOf = (hex: string): string =>
  hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

export const writeGtids = (set: GtidSet): string =>
  [...set]
    .map(([uuid, intervals]) => {
      const texts = intervals.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`));
      return [uuid, ...texts].join(':');
    })
    .join(',');

/** Servers whose transactions, numbered from 1, are not all in the set. */
export const withGaps = (set: GtidSet): string[] =>
  [...set]
    .filter(([, intervals]) => intervals.length > 1 || intervals[0]?.[0] !== 1)
    .map(([uuid]) => writeGtids(new Map([[uuid, set.get(uuid) ?? []]])));
