/**
 * Frees loop devices that no longer serve anyone. A device outlives a killed node and a deleted
 * cluster. One is ours by its leased number and by the file behind it, never by one of them alone.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { boundAttachments, update } from './backend.ts';
import { imagePath, type Layout } from './layout.ts';
import { devicePath, isBound, isClaimed, remove, serves, unbind } from './loop-device.ts';
import { type LoopRange, numbersIn } from './loop-range.ts';
import { powerUp } from './record.ts';
import { readRecords } from './record-store.ts';

export interface Released {
  readonly freed: readonly string[];
  /** Still mounted by someone, so left alone. */
  readonly busy: readonly string[];
}

/** The kernel unmounts a killed node's file systems a moment after its last process ended. */
const unmountPatienceMs = 5000;

/** What a dead node left. Where a crash was played, the node may use the volume again once it boots. */
export async function releaseNode(layout: Layout, node: string): Promise<Released> {
  const loops: number[] = [];
  const records = await readRecords(layout);
  for (const [volume, record] of records) {
    const bound = await boundAttachments(layout, volume, record);
    loops.push(...bound.filter((each) => each.node === node).map(({ loop }) => loop));
  }
  const released = await releaseLoops(loops, unmountPatienceMs);
  if (released.busy.length === 0) {
    for (const volume of records.keys()) await update(layout, volume, (now) => powerUp(now, node));
  }
  return released;
}

/** All of a cluster's devices that nobody has mounted; with it go unbound leftovers. */
export async function releaseAll(layout: Layout, range: LoopRange): Promise<Released> {
  const volumes = [...(await readRecords(layout)).keys()];
  const ours: number[] = [];
  for (const loop of numbersIn(range)) {
    if (!(await isBound(loop))) await remove(loop);
    else if (await isOurs(layout, volumes, loop)) ours.push(loop);
  }
  return releaseLoops(ours, unmountPatienceMs);
}

async function isOurs(layout: Layout, volumes: readonly string[], loop: number): Promise<boolean> {
  for (const volume of volumes) {
    if (await serves(loop, imagePath(layout, volume))) return true;
  }
  // A volume that was removed under its device has no inode to compare: the kernel marks its path.
  const path = await readFile(`/sys/block/loop${loop}/loop/backing_file`, 'utf8').catch(() => '');
  return /\/volumes\/[^/]+\/disk\.img \(deleted\)$/.test(path.trim());
}

/** Frees what becomes unclaimed within the time. */
export async function releaseLoops(
  loops: readonly number[],
  patienceMs: number,
): Promise<Released> {
  const freed: string[] = [];
  const busy: string[] = [];
  const giveUpAt = performance.now() + patienceMs;
  for (const loop of loops) {
    while ((await isClaimed(loop)) && performance.now() < giveUpAt) await sleep(50);
    if (await isClaimed(loop)) {
      busy.push(devicePath(loop));
      continue;
    }
    await unbind(loop);
    await remove(loop);
    freed.push(devicePath(loop));
  }
  return { freed, busy };
}
