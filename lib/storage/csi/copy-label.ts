/**
 * What a copy is, written beside it by who made it and held against the copy by who opens it. The
 * digest is over the first MiB, where the superblock is, and over blocks that the copy's own name
 * draws: it tells copies of two moments and of two volumes apart, and not a change of a few blocks,
 * which the stamp does: the kernel's time of the last change, which nobody can set.
 */
import { createHash, randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { CopyIdentity } from '../../history/index.ts';
import type { ArrayCopy } from './array-client.ts';
import { copyPath, filesCopyPath, filesPath } from './layout.ts';
import type { StorageBackend } from './paths.ts';
import { readRecord, writeWhole } from './record.ts';
import { must, runProgram } from './devices.ts';

const labelSchema = z.object({
  /** Drawn for this copy. */
  copy: z.string(),
  /** Handle of the volume. */
  volume: z.string(),
  /** Its latest attachment's; 0 for a shared directory. */
  generation: z.number(),
});
type Label = z.infer<typeof labelSchema>;

export const copyIdentitySchema = labelSchema.extend({
  bytes: z.number(),
  stamp: z.string(),
  digest: z.string(),
  filesystemUuid: z.string().optional(),
});

const labelPath = (path: string): string => `${path}.label.json`;

/** Labels a copy that was just made; it must not change any more. */
export async function labelCopy(path: string, about: Omit<Label, 'copy'>): Promise<CopyIdentity> {
  const label = { copy: randomUUID(), ...about };
  await writeWhole(labelPath(path), `${JSON.stringify(label)}\n`);
  return { ...label, ...(await contentOf(path, label.copy)), stamp: await stampOf(path) };
}

/**
 * What the copy at `path` is by its label, and by the content of `opened`, which was made from it.
 * Undefined where nobody labelled it.
 */
export async function identifyCopy(
  path: string,
  opened: string,
): Promise<CopyIdentity | undefined> {
  const text = await readFile(labelPath(path), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const label = labelSchema.parse(JSON.parse(text));
  return { ...label, ...(await contentOf(opened, label.copy)), stamp: await stampOf(path) };
}

/** UUID of the file system in an image or on a device; undefined where there is none. */
export async function filesystemUuidOf(path: string): Promise<string | undefined> {
  const { exitCode, stdout } = await runProgram('blkid', '-p', '-s', 'UUID', '-o', 'value', path);
  const uuid = stdout.trim();
  return exitCode === 0 && uuid !== '' ? uuid : undefined;
}

type Content = Pick<CopyIdentity, 'bytes' | 'digest' | 'filesystemUuid'>;

async function contentOf(path: string, seed: string): Promise<Content> {
  const found = await stat(path);
  if (found.isDirectory()) return listingOf(path);
  const filesystemUuid = await filesystemUuidOf(path);
  return {
    bytes: found.size,
    digest: digestOf(path, found.size, seed),
    ...(filesystemUuid === undefined ? {} : { filesystemUuid }),
  };
}

/** Inode and time of the last change of content or name, nanoseconds. */
async function stampOf(path: string): Promise<string> {
  const { ino, ctimeNs } = await stat(path, { bigint: true });
  return `${ino}-${ctimeNs}`;
}

const headBytes = 1024 ** 2;
const blockBytes = 4096;
/** Blocks to look at: of 2 GiB with 250 MiB in use some 250 are in use. */
const blocks = 2048;

/** Reads at once: nothing else goes on in the programs that copy and open. */
function digestOf(path: string, bytes: number, seed: string): string {
  const hash = createHash('sha256');
  const file = openSync(path, 'r');
  try {
    hash.update(rangeOf(file, 0, headBytes));
    const count = Math.max(1, Math.floor(bytes / blockBytes));
    for (let drawn = 0; drawn < blocks; drawn += draws) {
      const draw = createHash('sha256').update(`${seed}/${drawn}`).digest();
      for (let at = 0; at < draw.length; at += 4) {
        hash.update(rangeOf(file, (draw.readUInt32BE(at) % count) * blockBytes, blockBytes));
      }
    }
  } finally {
    closeSync(file);
  }
  return hash.digest('hex');
}

/** Places that one hash gives. */
const draws = 8;

function rangeOf(file: number, at: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  return buffer.subarray(0, readSync(file, buffer, 0, length, at));
}

/** A directory has no blocks of its own: names, sizes and times of all that is in it. */
async function listingOf(folder: string): Promise<Content> {
  const hash = createHash('sha256');
  let bytes = 0;
  for (const name of (await readdir(folder, { recursive: true })).toSorted()) {
    const found = await stat(join(folder, name));
    // How large a directory is depends on what was in it once.
    const size = found.isDirectory() ? 0 : found.size;
    hash.update(`${name}\0${found.mode}\0${size}\0${found.mtimeMs}\n`);
    bytes += size;
  }
  return { bytes, digest: hash.digest('hex') };
}

interface Copied extends Partial<Omit<ArrayCopy, 'bytes'>>, CopyIdentity {
  /** An image, or a directory of a volume that is shared by its files. */
  readonly path: string;
}

/**
 * Copies a volume as it is at one moment, and says which copy it is. It appears whole or not at all, in
 * place of an earlier one of that label.
 */
export async function copyVolume(
  { layout, array }: StorageBackend,
  volume: string,
  label: string,
): Promise<Copied> {
  await mkdir(layout.copies, { recursive: true });
  const files = filesPath(layout, volume);
  if (await isFolder(files)) return copyFiles(volume, files, filesCopyPath(layout, label));
  const path = copyPath(layout, label);
  const { heldMs } = await array.copy({ volume, to: `${path}.new` });
  await rename(`${path}.new`, path);
  const generation = ((await readRecord(layout, volume))?.nextGeneration ?? 1) - 1;
  return { path, heldMs, ...(await labelCopy(path, { volume, generation })) };
}

/** Copies one moment only while those who write there are frozen: nothing holds a directory. */
async function copyFiles(volume: string, files: string, path: string): Promise<Copied> {
  await rm(`${path}.new`, { recursive: true, force: true });
  await must('cp', '--archive', '--sparse=always', files, `${path}.new`);
  await rm(path, { recursive: true, force: true });
  await rename(`${path}.new`, path);
  return { path, ...(await labelCopy(path, { volume, generation: 0 })) };
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
