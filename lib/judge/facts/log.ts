/** What the disk's log of writes states: which path was open when, which was cut, what each wrote. */
import { type WriteLog, writeOps } from '../../history/index.ts';
import { nodesOf, pathsIn } from '../timeline/writes.ts';
import { type Change, moment } from './changes.ts';
import type { Statement } from './engine.ts';

/** A path to the disk, as records name it: each attachment of the volume has its own. */
export const pathItem = (generation: number | undefined): string =>
  `path ${generation ?? 'without a number'}`;

export interface Logged {
  readonly paths: ReturnType<typeof pathsIn>;
  /** Whose each path is. */
  readonly owners: readonly Statement[];
  /** Bytes by path, at the end of each second in which it wrote. */
  readonly counts: readonly Statement[];
  /** When each path was cut, or lost power, for the first time. */
  readonly cuts: readonly Change[];
  /** When each node wrote, a time for each second. */
  readonly writing: ReadonlyMap<string, readonly number[]>;
  /** The array was killed then, and what it logged last, up to 100 ms, is missing. */
  readonly untilMs: number;
}

/** One pass over the log. */
export function readLog(log: WriteLog, endAtMs: number): Logged {
  const nodeOf = nodesOf(log);
  const written = new Map<number, SecondCount[]>();
  const cuts = new Map<number, number>();
  let untilMs = Number.POSITIVE_INFINITY;
  for (let index = 0; index < log.length; index += 1) {
    const { op, generation, length } = log.at(index);
    if (op === writeOps.write) count(written, generation, log.atMs(index), length);
    else if (op === writeOps.killed) untilMs = Math.min(untilMs, log.atMs(index) - 1000);
    else if ((op === writeOps.cut || op === writeOps.powerLost) && !cuts.has(generation)) {
      cuts.set(generation, log.atMs(index));
    }
  }
  const writing = new Map<string, number[]>();
  for (const [generation, counts] of written) {
    const node = nodeOf.get(generation) ?? pathItem(generation);
    const times = [...(writing.get(node) ?? []), ...counts.map(({ atMs }) => atMs)];
    writing.set(
      node,
      times.toSorted((a, b) => a - b),
    );
  }
  return {
    paths: pathsIn(log, endAtMs),
    owners: log.paths.map(({ node, generation }) => ({
      ...{ item: pathItem(generation), value: node, fromMs: 0, toMs: endAtMs },
    })),
    counts: [...written].flatMap(([generation, counts]) =>
      counts.map(({ bytes, atMs }) => moment(pathItem(generation), bytes, atMs)),
    ),
    cuts: [...cuts].map(([of, atMs]): Change => ({ item: pathItem(of), value: 'cut', atMs })),
    writing,
    untilMs,
  };
}

/** All bytes of a path until the end of a second. */
interface SecondCount {
  readonly second: number;
  bytes: number;
  atMs: number;
}

function count(
  written: Map<number, SecondCount[]>,
  generation: number,
  atMs: number,
  length: number,
): void {
  const counts = written.get(generation) ?? [];
  if (counts.length === 0) written.set(generation, counts);
  const second = Math.floor(atMs / 1000);
  const last = counts.at(-1);
  if (last?.second === second) {
    last.bytes += length;
    last.atMs = atMs;
  } else counts.push({ second, bytes: (last?.bytes ?? 0) + length, atMs });
}
