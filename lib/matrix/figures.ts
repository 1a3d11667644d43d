/** Figures that a batch and a merged one share. */
import type { Batch } from './batch.ts';

const trust: readonly Batch['basis'][] = ['predicted', 'shortened', 'measured'];

/** A batch is worth what the least of its runs is worth. */
export const weakestBasis = (bases: readonly Batch['basis'][]): Batch['basis'] =>
  trust.find((basis) => bases.includes(basis)) ?? 'measured';

/** 0 where no time went by. */
export const perHour = (count: number, busyS: number): number =>
  busyS === 0 ? 0 : Number(((count * 3600) / busyS).toPrecision(3));
