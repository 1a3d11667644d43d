/** Packs a volume's log of writes into a folder that leaves with the run (lib/history/writes.ts). */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress } from 'node:zlib';
import { z } from 'zod';
import { exportFolder, imagePath, type Layout, volumeFolder } from './layout.ts';

interface WriteExportOptions {
  readonly volume: string;
  /** Names the folder; what was there before is replaced. */
  readonly label: string;
  /** CLOCK_MONOTONIC at the run's t = 0, in nanoseconds. */
  readonly originNs: bigint;
}

interface Exported {
  readonly folder: string;
  readonly files: readonly { readonly name: string; readonly bytes: number }[];
}

const pathLineSchema = z.object({ node: z.string(), generation: z.number() });

/** A volume that no path was ever opened to has no log, and its folder has no files. */
export async function exportWrites(
  layout: Layout,
  { volume, label, originNs }: WriteExportOptions,
): Promise<Exported> {
  const from = volumeFolder(layout, volume);
  const folder = exportFolder(layout, label);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const names: string[] = [];
  for (const name of ['writes.log', 'writes.data']) {
    if (await pack(join(from, name), join(folder, `${name}.zst`))) names.push(`${name}.zst`);
  }
  if (names.length > 0) {
    const { size: sizeBytes } = await stat(imagePath(layout, volume));
    const lines = (await readFile(join(from, 'paths.jsonl'), 'utf8')).trim().split('\n');
    const paths = lines.map((line) => pathLineSchema.parse(JSON.parse(line)));
    // As text: a JSON number does not hold it exactly.
    const about = { sizeBytes, originNs: String(originNs), paths };
    await writeFile(join(folder, 'paths.json'), JSON.stringify(about));
    names.push('paths.json');
  }
  const sizes = names.map(async (name) => ({ name, bytes: (await stat(join(folder, name))).size }));
  return { folder, files: await Promise.all(sizes) };
}

/** Packs what the file has now: the array may add to it meanwhile. False where there is none. */
async function pack(from: string, to: string): Promise<boolean> {
  const size = await stat(from).then(
    (found) => found.size,
    () => 0,
  );
  if (size === 0) return false;
  const source = createReadStream(from, { end: size - 1 });
  await pipeline(source, createZstdCompress(), createWriteStream(to));
  return true;
}
