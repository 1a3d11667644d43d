/** Plays a machine's loss of power, and gives it back what a crash does not take. */
import type { PowerLoss } from '../disk-kinds.ts';
import type { PowerLost } from './array-port.ts';
import { loopFor } from './backend.ts';
import type { LoopRange } from './loop-range.ts';
import { type Backend, type CutDevice, deviceOf, livePaths } from './paths.ts';
import { awaitsPower, cut, heldBy, powerUp } from './record.ts';
import { locked, neededRecord, readRecords, updateRecord, writeRecord } from './record-store.ts';

export interface PowerLossOptions {
  readonly node: string;
  /** What becomes of writes that were acknowledged and not flushed. */
  readonly unflushed: PowerLoss;
  readonly seed: string;
}

export interface LostPower {
  readonly devices: readonly (CutDevice & { readonly volume: string })[];
  /** By volume that the node had a path to. */
  readonly lost: readonly (PowerLost & { readonly volume: string })[];
}

/** All paths of the node are cut for good. Safe to repeat after a death half-way. */
export async function losePower(
  { layout, array }: Backend,
  options: PowerLossOptions,
): Promise<LostPower> {
  const { node } = options;
  for (const [volume, record] of await readRecords(layout)) {
    if (heldBy(record, node) === undefined) continue;
    await updateRecord(layout, volume, (now) => cut(now, node, 'crash', Date.now()));
  }
  const paths = await livePaths(array, { node });
  const lost = [];
  for (const volume of new Set(paths.map((path) => path.volume))) {
    lost.push({ volume, ...(await array.losePower({ volume, ...options })) });
  }
  const now = await livePaths(array, { node });
  return { devices: now.map((path) => ({ volume: path.volume, ...deviceOf(path) })), lost };
}

/** Gives a new path to each attachment that nothing but a crash keeps from the node. */
export async function restorePower(
  backend: Backend,
  loops: LoopRange,
  node: string,
): Promise<void> {
  const { layout } = backend;
  for (const volume of (await readRecords(layout)).keys()) {
    await locked(layout, async () => {
      const record = await neededRecord(layout, volume);
      if (!awaitsPower(record, node)) return;
      const loop = await loopFor(backend, loops, record.nextGeneration);
      await writeRecord(layout, volume, powerUp(record, node, { loop, wallMs: Date.now() }));
    });
  }
}
