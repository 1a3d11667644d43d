/** Plays a machine's loss of power, and gives it back what a crash does not take. */
import type { PowerLoss } from '../../scenario/index.ts';
import { describeError } from '../../core/index.ts';
import type { PathStatus, PathPowerLoss } from './array-port.ts';
import { loopFor } from './backend.ts';
import type { LoopRange } from './loop-device.ts';
import { type StorageBackend, type CutDevice, deviceOf, livePaths, type Target } from './paths.ts';
import { awaitsPower, recordCut, heldBy, powerUp } from './record.ts';
import { locked, neededRecord, readRecords, updateRecord, writeRecord } from './record-store.ts';

export interface PowerLossOptions {
  readonly node: string;
  /** What becomes of writes that were acknowledged and not flushed. */
  readonly unflushed: PowerLoss;
  readonly seed: string;
  /** Writes, right before the cut, what the crash is to take. Default: nothing is written. */
  readonly writeCanary?: (path: PathStatus) => Promise<void>;
}

export interface LostVolume extends PathPowerLoss {
  readonly volume: string;
  /** When the canary was written that the crash is to take; Unix ms, undefined where none was. */
  readonly canaryAt?: number | undefined;
  /** Why this call wrote none. */
  readonly canaryError?: string | undefined;
}

export interface LostPower {
  readonly devices: readonly (CutDevice & { readonly volume: string })[];
  /** By volume that the node had a path to. */
  readonly lost: readonly LostVolume[];
}

/** All paths of the node are cut for good. Safe to repeat after a death half-way. */
export async function losePower(
  { layout, array }: StorageBackend,
  { node, unflushed, seed, writeCanary }: PowerLossOptions,
): Promise<LostPower> {
  const held = [...(await readRecords(layout))]
    .filter(([, record]) => heldBy(record, node) !== undefined)
    .map(([volume]) => volume);
  const open = (await livePaths(array, { node })).map(({ volume }) => volume);
  const lost: LostVolume[] = [];
  for (const volume of new Set([...held, ...open])) {
    const target = { volume, node };
    const canary = await written({ layout, array }, target, writeCanary);
    // The record is changed before the path, as paths.ts says.
    const record = await updateRecord(layout, volume, (now) =>
      recordCut(now, node, { cutFor: 'crash', wallMs: Date.now(), canaryAt: canary.at }),
    );
    if ((await livePaths(array, target)).length === 0) continue;
    const loss = await array.losePower({ volume, node, unflushed, seed });
    const { canaryAt } = heldBy(record, node) ?? {};
    lost.push({ volume, ...loss, canaryAt, canaryError: canary.error });
  }
  const now = await livePaths(array, { node });
  return { devices: now.map((path) => ({ volume: path.volume, ...deviceOf(path) })), lost };
}

/** When the canary was written. Never rejects: one that can't be keeps no power from being lost. */
async function written(
  { layout, array }: StorageBackend,
  target: Target,
  writeCanary: PowerLossOptions['writeCanary'],
): Promise<{ readonly at?: number; readonly error?: string }> {
  if (writeCanary === undefined) return {};
  try {
    const held = heldBy(await neededRecord(layout, target.volume), target.node);
    const path = (await livePaths(array, target)).find(
      ({ generation, state }) => generation === held?.generation && state === 'open',
    );
    if (path === undefined) return { error: 'no path to write it through was open' };
    await writeCanary(path);
    return { at: Date.now() };
  } catch (error) {
    return { error: describeError(error) };
  }
}

/** Gives a new path to each attachment that nothing but a crash keeps from the node. */
export async function restorePower(
  backend: StorageBackend,
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
