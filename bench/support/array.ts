/** An array to measure against: the project's own image, and volumes behind it. */
import { mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { startArray } from '../../lib/kind/disk/containers.ts';
import { markLab } from '../../lib/kind/ownership/labs.ts';
import { remove } from '../../lib/kind/engine/commands.ts';
import { run } from '../../lib/kind/engine/run.ts';
import { arrayAt } from '../../lib/storage/csi/array-client.ts';

const volumeBytes = 4 * 2 ** 30;
/** Far above all leases (lib/kind/ownership/lease.ts) and test loops. */
const firstLoop = 5300;

export interface BenchArray extends AsyncDisposable {
  /** The device of a new volume of 4 GiB. */
  newDevice(options: { readonly keepData: boolean }): Promise<string>;
}

/** Everything is gone when disposed. */
export async function startBenchArray({
  array: image,
  tools,
}: Readonly<Record<'array' | 'tools', string>>): Promise<BenchArray> {
  const root = await mkdtemp(join(tmpdir(), 'forcedetach-bench-array-'));
  const name = basename(root);
  const labels = markLab({ folder: root, loops: { first: firstLoop, count: 20 }, tools });
  await startArray({ container: name, image, source: root, root, labels });
  const array = arrayAt(join(root, 'array.sock'));
  const opened: { readonly volume: string; readonly generation: number }[] = [];
  const dispose = async (): Promise<void> => {
    for (const path of opened) await array.close(path);
    await run(remove(name));
    await rm(root, { recursive: true });
  };
  return {
    async newDevice({ keepData }) {
      const path = { volume: `bench-${opened.length}`, generation: 1 };
      await mkdir(join(root, 'volumes', path.volume), { recursive: true });
      await using file = await open(join(root, 'volumes', path.volume, 'disk.img'), 'w');
      await file.truncate(volumeBytes);
      const loop = firstLoop + opened.length;
      const request = { ...path, node: 'bench', loop, keepData, flushes: 'honest' } as const;
      const { device } = await array.open(request);
      opened.push(path);
      return device;
    },
    [Symbol.asyncDispose]: dispose,
  };
}
