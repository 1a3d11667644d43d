/** What a loss of power leaves of the writes that were acknowledged but not flushed. */
import type { PowerLoss } from '../../scenario/index.ts';
import type { WriteLog } from '../../history/index.ts';
import type { RandomStream } from '../../core/index.ts';
import { sectorBytes } from './sector-versions.ts';

/** The first `length` bytes of a write: all of it, or the part before it was torn. */
export interface Survivor {
  readonly index: number;
  readonly length: number;
}

/**
 * keeps: all of them. drops: none. reorders: each with even chance, so that younger ones may be
 * there and older ones not. tears: one of them, up to a sector within it, and no other.
 */
export function survivors(
  policy: PowerLoss,
  log: WriteLog,
  unflushed: readonly number[],
  random: RandomStream,
): Survivor[] {
  const whole = (index: number): Survivor => ({ index, length: log.at(index).length });
  if (policy === 'drops') return [];
  if (policy === 'tears') return torn(unflushed.map(whole), random);
  const kept = unflushed.filter(() => policy === 'keeps' || random.int(0, 1) === 1);
  return kept.map(whole);
}

/** A write of one sector can't be torn. */
function torn(writes: readonly Survivor[], random: RandomStream): Survivor[] {
  const tearable = writes.filter(({ length }) => length > sectorBytes);
  if (tearable.length === 0) return [];
  const victim = tearable[random.int(0, tearable.length - 1)];
  if (victim === undefined) return [];
  const sectors = random.int(1, Math.ceil(victim.length / sectorBytes) - 1);
  return [{ index: victim.index, length: sectors * sectorBytes }];
}
