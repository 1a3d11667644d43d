/** The loop device numbers that are leased to one cluster, and which of them serve nobody. */
import { UsageError } from '../errors.ts';
import { isBound } from './loop-device.ts';
import { isHeld, type VolumeRecord } from './record.ts';

export interface LoopRange {
  readonly first: number;
  readonly last: number;
}

/** Reads `128-191`. */
export function parseLoopRange(text: string): LoopRange {
  const match = /^(\d+)-(\d+)$/.exec(text);
  const range = { first: Number(match?.[1]), last: Number(match?.[2]) };
  if (match === null || range.first > range.last) {
    throw new UsageError(
      'BAD_LOOP_RANGE',
      `${JSON.stringify(text)} is not a range of loop numbers`,
      {
        hint: 'Give the first and the last number, like 128-191.',
      },
    );
  }
  return range;
}

export const numbersIn = ({ first, last }: LoopRange): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

/** In the order to try them: each generation begins one further, so that numbers rarely repeat. */
export function candidates(range: LoopRange, generation: number): number[] {
  const numbers = numbersIn(range);
  const start = (generation - 1) % numbers.length;
  return [...numbers.slice(start), ...numbers.slice(0, start)];
}

/** A number that no attachment holds and no device has in use; undefined where all are. */
export async function freeLoop(
  range: LoopRange,
  generation: number,
  records: readonly VolumeRecord[],
  inUse: readonly number[],
): Promise<number | undefined> {
  const held = records.flatMap(({ attachments }) => attachments.filter(isHeld));
  const taken = new Set([...inUse, ...held.map(({ loop }) => loop)]);
  for (const loop of candidates(range, generation)) {
    if (!taken.has(loop) && !(await isBound(loop))) return loop;
  }
  return undefined;
}
