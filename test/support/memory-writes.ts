/** A log of writes in memory, and drawn ones, for tests of what crashes leave. */
import fc from 'fast-check';
import { writeOps, type WriteLog, type WriteRecord } from '../../lib/history/writes.ts';
import type { Written } from './writes.ts';

/** Record n happens at n ms of the run's clock. */
export function memoryWrites(records: readonly Written[], size = 8192): WriteLog {
  const all = records.map((record): WriteRecord => ({ offset: 0, length: 0, flags: 0, ...record }));
  return {
    sizeBytes: size,
    originNs: 0n,
    paths: [],
    length: all.length,
    cut: false,
    at(index) {
      const record = all[index];
      if (record === undefined) throw new RangeError(`no record ${index}`);
      return record;
    },
    atMs: (index) => index,
  };
}

const sectors = 8;

type Step =
  | { readonly do: 'write' | 'zero'; readonly first: number; readonly count: number; path: number }
  | { readonly do: 'begin' | 'end' | 'ignored' | 'close'; path: number };

const path = fc.integer({ min: 1, max: 2 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('write' as const, 'write' as const, 'write' as const, 'zero' as const),
      first: fc.nat({ max: sectors - 1 }),
      count: fc.integer({ min: 1, max: 5 }),
      path,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('begin', 'end', 'end', 'ignored', 'close'), path }),
  },
) as fc.Arbitrary<Step>;

/**
 * Logs of up to 40 records on two paths over 8 sectors, with flushes that overlap writes and each
 * other. The data of a write lies at its index times 4096.
 */
export const drawnWrites: fc.Arbitrary<WriteLog> = fc
  .array(step, { minLength: 1, maxLength: 40, size: 'max' })
  .map((steps) => {
    const records: Written[] = [];
    const begun = new Map<number, number>();
    for (const each of steps) records.push(...recordsOf(each, records.length, begun));
    return memoryWrites(records, sectors * 512);
  });

function recordsOf(each: Step, index: number, begun: Map<number, number>): Written[] {
  const generation = each.path;
  if (each.do === 'write' || each.do === 'zero') {
    const offset = each.first * 512;
    const length = Math.min(each.count, sectors - each.first) * 512;
    const data = each.do === 'write' ? { dataOffset: index * 4096 } : {};
    return [{ op: writeOps[each.do], offset, length, generation, ...data }];
  }
  if (each.do === 'ignored') return [{ op: writeOps.flushIgnored, generation }];
  if (each.do === 'close') return [{ op: writeOps.close, generation }];
  const begin = begun.get(generation);
  if (each.do === 'begin') begun.set(generation, index);
  if (each.do === 'begin') return [{ op: writeOps.flushBegin, generation }];
  return begin === undefined ? [] : [{ op: writeOps.flushEnd, offset: begin, generation }];
}

/** As the design words it: some flush of the write's path that began after it has ended by then. */
export function isDurable(log: WriteLog, index: number, position: number): boolean {
  const { generation } = log.at(index);
  for (let end = index + 1; end <= position; end += 1) {
    const { op, generation: path, offset } = log.at(end);
    if (path !== generation) continue;
    if (op === writeOps.close || (op === writeOps.flushEnd && offset > index)) return true;
  }
  return false;
}

export function changesImage(log: WriteLog, index: number): boolean {
  const { op } = log.at(index);
  return op === writeOps.write || op === writeOps.zero;
}
