/**
 * Closes paths that no longer serve anyone. A path outlives a killed node, and its loop device even
 * a deleted cluster and a dead array. A device is ours by its leased number and by the file behind
 * it, never by one of them alone.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ArrayPort, PathStatus } from './array-port.ts';
import {
  devicePath,
  isBound,
  isClaimed,
  removeLoop,
  unbind,
  unbindOver,
  volumeBehind,
} from './loop-device.ts';
import { type LoopRange, numbersIn } from './loop-device.ts';
import { closed, type StorageBackend, unless, livePaths } from './paths.ts';
import { restorePower } from './power.ts';
import { recordCut } from './record.ts';
import { updateRecord } from './record-store.ts';

export interface Released {
  readonly freed: readonly string[];
  /** Still mounted by someone, so left alone. */
  readonly busy: readonly string[];
}

/** The kernel unmounts a killed node's file systems a moment after its last process ended. */
const unmountPatienceMs = 5000;

/** What a dead node left. Where a crash was played, the node may use the volume again once it boots. */
export async function releaseNode(
  backend: StorageBackend,
  loops: LoopRange,
  node: string,
): Promise<Released> {
  const paths = await livePaths(backend.array, { node });
  for (const volume of new Set(paths.filter(isSevered).map((path) => path.volume))) {
    // Its path will be cut below. It died with it, so that is a crash, and the record must say so.
    await updateRecord(backend.layout, volume, (now) =>
      recordCut(now, node, { cutFor: 'crash', wallMs: Date.now() }),
    );
  }
  await unbindOver(paths.map(({ loop }) => loop));
  const released = await closePaths(backend.array, paths, unmountPatienceMs);
  if (released.busy.length === 0) await restorePower(backend, loops, node);
  return released;
}

/** All of a cluster's paths that nobody has mounted, with an array or without one. */
export async function releaseAll(array: ArrayPort, range: LoopRange): Promise<Released> {
  const paths = await livePaths(array).catch(unless('NO_ARRAY', []));
  const served = await closePaths(array, paths, unmountPatienceMs);
  const left = await releaseLoops(range, served.busy);
  return { freed: [...served.freed, ...left.freed], busy: [...served.busy, ...left.busy] };
}

/**
 * Closes what becomes unmounted within the time. A path that is severed is cut first: its requests
 * wait, and no unmount gets past them.
 */
export async function closePaths(
  array: ArrayPort,
  paths: readonly PathStatus[],
  patienceMs: number,
): Promise<Released> {
  const giveUpAt = performance.now() + patienceMs;
  const freed: string[] = [];
  const busy: string[] = [];
  for (const path of paths) {
    const { volume, generation, device } = path;
    if (isSevered(path)) await array.cut({ volume, generation, why: 'release' });
    let isClosed = await closed(array, path);
    while (!isClosed && performance.now() < giveUpAt) {
      await sleep(50);
      isClosed = await closed(array, path);
    }
    (isClosed ? freed : busy).push(device);
  }
  return { freed, busy };
}

const isSevered = ({ state, link }: PathStatus): boolean => state === 'open' && link !== 'pass';

/** Devices that no array answers for any more; with them go unbound leftovers. */
async function releaseLoops(range: LoopRange, except: readonly string[]): Promise<Released> {
  const freed: string[] = [];
  const busy: string[] = [];
  for (const loop of numbersIn(range)) {
    const device = devicePath(loop);
    if (except.includes(device)) continue;
    const bound = await isBound(loop);
    if (bound && (await volumeBehind(loop)) === undefined) continue;
    if (bound && (await isClaimed(loop))) {
      busy.push(device);
      continue;
    }
    if (bound) {
      await unbindOver([loop]);
      freed.push(device);
    }
    await unbind(loop);
    await removeLoop(loop);
  }
  return { freed, busy };
}
