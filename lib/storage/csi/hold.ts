/**
 * Calls that are made to wait, as a driver does whose backend hangs: a file on the shared directory
 * holds one kind of call about one volume on one node until it is taken away.
 */
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Around } from './grpc.ts';
import { checkedName, isName, type Layout } from './layout.ts';

export interface Hold {
  /** Where the driver runs. */
  readonly node: string;
  /** RPC name, e.g. `NodeStageVolume`. */
  readonly call: string;
  readonly volume: string;
}

const folderOf = ({ root }: Layout): string => join(root, 'holds');

const fileOf = (layout: Layout, { node, call, volume }: Hold): string =>
  join(
    folderOf(layout),
    checkedName('node', node),
    checkedName('call', call),
    checkedName('volume', volume),
  );

export async function holdCalls(layout: Layout, hold: Hold): Promise<void> {
  const file = fileOf(layout, hold);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, '');
}

/** All that is held goes on. Idempotent. */
export async function letGo(layout: Layout): Promise<void> {
  await rm(folderOf(layout), { recursive: true, force: true });
}

const pollMs = 100;

/** Waits before the work while the call is held; `heldMs` in its notes says how long. */
export const whileHeld =
  (layout: Layout, node: string, around: Around): Around =>
  (call, work) =>
    around(call, async (notes) => {
      const { volumeId } = call.request as { readonly volumeId?: unknown };
      if (typeof volumeId !== 'string' || !isName(volumeId)) return work(notes);
      const file = fileOf(layout, { node, call: call.name, volume: volumeId });
      let heldMs = 0;
      for (; existsSync(file); heldMs += pollMs) await sleep(pollMs);
      if (heldMs > 0) notes['heldMs'] = heldMs;
      return work(notes);
    });
