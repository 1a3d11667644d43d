/**
 * Volumes: an image, the parameters it was made with, and a record. The record comes last and goes
 * first: a volume is there exactly while its record is, whenever a process dies.
 */
import { mkdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { z } from 'zod';
import { InfrastructureError } from '../../core/index.ts';
import { CallError } from './grpc.ts';
import { filesPath, imagePath, type Layout, recordPath, volumeFolder } from './layout.ts';
import { type StorageBackend, livePaths, closePaths } from './paths.ts';
import { newRecord, locked, readIfThere, readRecord, writeRecord, writeWhole } from './record.ts';

export interface VolumeImage {
  readonly sizeBytes: number;
  /** The storage class's, which become the volume's attributes. */
  readonly parameters: Readonly<Record<string, string>>;
}

const parametersSchema = z.record(z.string(), z.string());

const parametersPath = (layout: Layout, volume: string): string =>
  join(volumeFolder(layout, volume), 'parameters.json');

/** Outlives the volume: the number of the next attachment of a later volume of that name. */
const retiredPath = (layout: Layout, volume: string): string =>
  join(layout.root, 'retired', volume);

/** Undefined where there is no such volume. */
export async function readImage(layout: Layout, volume: string): Promise<VolumeImage | undefined> {
  if ((await readRecord(layout, volume)) === undefined) return undefined;
  const { size: sizeBytes } = await stat(imagePath(layout, volume));
  const text = await readIfThere(parametersPath(layout, volume));
  return { sizeBytes, parameters: parametersSchema.parse(JSON.parse(text ?? '{}')) };
}

/** Throws NOT_FOUND. */
export async function neededImage(layout: Layout, volume: string): Promise<VolumeImage> {
  const there = await readImage(layout, volume);
  if (there === undefined) throw new CallError(status.NOT_FOUND, `there is no volume ${volume}`);
  return there;
}

/** For holders of the lock, who have seen that there is none; what a dead process left is made anew. */
export async function makeImage(layout: Layout, volume: string, image: VolumeImage): Promise<void> {
  await mkdir(volumeFolder(layout, volume), { recursive: true });
  await writeFile(imagePath(layout, volume), '');
  await truncate(imagePath(layout, volume), image.sizeBytes);
  await writeFile(parametersPath(layout, volume), JSON.stringify(image.parameters));
  const nextGeneration = Number((await readIfThere(retiredPath(layout, volume))) ?? 1);
  await writeRecord(layout, volume, { ...newRecord(), nextGeneration });
}

/** Idempotent. For holders of the lock, who have seen that nobody uses it. */
export async function removeImage(layout: Layout, volume: string): Promise<void> {
  const record = await readRecord(layout, volume);
  if (record !== undefined) {
    // The array never un-cuts a generation, so none may come back under the volume's name.
    await mkdir(dirname(retiredPath(layout, volume)), { recursive: true });
    await writeWhole(retiredPath(layout, volume), String(record.nextGeneration));
    await rm(recordPath(layout, volume));
  }
  await rm(volumeFolder(layout, volume), { recursive: true, force: true });
}

interface NewVolume {
  readonly volume: string;
  readonly sizeBytes: number;
  /** A directory that nodes share; its image then says the size and nothing else. */
  readonly shared: boolean;
}

/** A blank volume, apart from Kubernetes' provisioning. VOLUME_EXISTS where there is one of that name. */
export async function createVolume(
  { layout }: StorageBackend,
  { volume, sizeBytes, shared }: NewVolume,
): Promise<string> {
  await locked(layout, async () => {
    if ((await readImage(layout, volume)) !== undefined) {
      throw new InfrastructureError('VOLUME_EXISTS', `there is a volume ${volume} already`);
    }
    if (shared) await mkdir(filesPath(layout, volume), { recursive: true });
    await makeImage(layout, volume, { sizeBytes, parameters: {} });
  });
  return shared ? filesPath(layout, volume) : imagePath(layout, volume);
}

/** Refused while a path that works is mounted: VOLUME_IN_USE. No error when there is no volume. */
export async function removeVolume(
  { layout, array }: StorageBackend,
  volume: string,
): Promise<readonly string[]> {
  const there = await stat(volumeFolder(layout, volume)).catch(() => undefined);
  if (there === undefined) return [];
  const paths = await livePaths(array, { volume });
  const works = paths.filter(({ state, link }) => state === 'open' && link === 'pass');
  const { freed, busy } = await closePaths(array, works, 0);
  if (busy.length > 0) {
    throw new InfrastructureError('VOLUME_IN_USE', `${volume} is mounted: ${busy.join()}`);
  }
  const broken = paths.filter((path) => !works.includes(path));
  for (const { generation } of broken) await array.close({ volume, generation, force: true });
  await locked(layout, () => removeImage(layout, volume));
  return [...freed, ...broken.map(({ device }) => device)];
}
