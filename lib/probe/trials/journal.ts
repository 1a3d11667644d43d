/** What a pod of a trial said of itself, line by line: its writes, and what it read of another's. */

import { z } from 'zod';
import type { Immutable } from '../../immutable.ts';

/** Unix milliseconds of the pod's node. */
const ms = z.number();

export const journalSchema = z.object({
  startedMs: ms.exactOptional(),
  /** Past the cache of its node. */
  isDirect: z.boolean().exactOptional(),
  writes: z.array(
    z.object({
      ...{ seq: z.number(), begunMs: ms, tookMs: ms },
      /** An error's code, e.g. `EIO`; absent where the write was acknowledged. */
      error: z.string().exactOptional(),
    }),
  ),
  /** Slots of the first pod that the next one found on the disk, whole: inclusive ranges, in order. */
  scans: z.array(
    z.object({
      atMs: ms,
      ranges: z.array(z.tuple([z.number(), z.number()])),
      /** When the last of them was begun, as it stands in the slot: on the clock of the first pod's node. */
      youngestMs: ms.exactOptional(),
    }),
  ),
  /** Reads that failed. */
  blind: z.array(z.object({ atMs: ms, error: z.string() })),
  quietMs: ms.exactOptional(),
  loudMs: ms.exactOptional(),
  endedMs: ms.exactOptional(),
  /** It was told to end. */
  termMs: ms.exactOptional(),
  /** It could not even begin, or not go on: the error's code. */
  failed: z.string().exactOptional(),
  /** Lines that were never seen, or made no sense: evidence with a gap. */
  gaps: z.number(),
});
type Draft = z.output<typeof journalSchema>;
export type PodJournal = Immutable<Draft>;
export type Write = PodJournal['writes'][number];

export const emptyJournal: PodJournal = { writes: [], scans: [], blind: [], gaps: 0 };

/** Lines in any order; the same line twice counts once. */
export function readJournal(lines: readonly string[]): PodJournal {
  const byNumber = new Map<number, readonly string[]>();
  let strange = 0;
  for (const line of lines) {
    const [, number, rest] = /^(\d{1,9}) (.*)$/.exec(line) ?? [];
    if (number === undefined || rest === undefined) strange += 1;
    else byNumber.set(Number(number), rest.split(' '));
  }
  const numbers = [...byNumber.keys()].toSorted((a, b) => a - b);
  const missing = (numbers.at(-1) ?? 0) - numbers.length;
  const read: Draft = { writes: [], scans: [], blind: [], gaps: 0 };
  for (const number of numbers) {
    if (!take(read, byNumber.get(number) ?? [])) strange += 1;
  }
  return { ...read, gaps: missing + strange };
}

/** False for what no pod says. */
function take(journal: Draft, [word = '', ...values]: readonly string[]): boolean {
  const [first = Number.NaN, second = Number.NaN, third = Number.NaN] = values.map(Number);
  const isTime = Number.isFinite(first);
  switch (word) {
    case 'start':
      Object.assign(journal, { startedMs: first, isDirect: values[1] === 'direct' });
      return isTime;
    case 'ack':
    case 'err': {
      const error = word === 'ack' ? {} : { error: values[3] ?? '?' };
      journal.writes.push({ seq: first, begunMs: second, tookMs: third, ...error });
      return Number.isInteger(first) && Number.isFinite(second + third);
    }
    case 'scan': {
      const youngestMs = Number(values[3]);
      const youngest = Number.isFinite(youngestMs) ? { youngestMs } : {};
      journal.scans.push({ atMs: first, ranges: rangesOf(values[2] ?? ''), ...youngest });
      return isTime;
    }
    case 'blind':
      journal.blind.push({ atMs: first, error: values[1] ?? '?' });
      return isTime;
    case 'quiet':
      journal.quietMs = first;
      return isTime;
    case 'loud':
      journal.loudMs = first;
      return isTime;
    case 'end':
      journal.endedMs = first;
      return isTime;
    case 'fail':
      journal.failed = values[1] ?? '?';
      return isTime;
    case 'term':
      journal.termMs = first;
      return isTime;
    default:
      return false;
  }
}

const rangesOf = (text: string): [number, number][] =>
  [...text.matchAll(/(\d+)-(\d+)/g)].map(([, from, to]) => [Number(from), Number(to)]);

/** The writes, begun by another clock, which is ahead of the pod's by so much. */
export const writesBy = ({ writes }: PodJournal, aheadMs = 0): Write[] =>
  writes.map((write) => ({ ...write, begunMs: write.begunMs + aheadMs }));

/** When a write was answered: with its error, too. */
export const answeredMs = ({ begunMs, tookMs }: Write): number => begunMs + tookMs;
