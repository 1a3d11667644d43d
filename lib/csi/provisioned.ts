/**
 * What a provisioned volume consists of: an image, the parameters it was made with, and a record.
 * The record comes last and goes first: a volume is there exactly while its record is, whenever a
 * process dies. All that change something expect the caller to hold the lock.
 */
import { mkdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { z } from 'zod';
import { CallError } from './grpc.ts';
import { imagePath, type Layout, recordPath, volumeFolder } from './layout.ts';
import { newRecord } from './record.ts';
import { readRecord, writeRecord } from './record-store.ts';
import { readIfThere, writeWhole } from './whole-file.ts';

export interface Provisioned {
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
export async function readProvisioned(
  layout: Layout,
  volume: string,
): Promise<Provisioned | undefined> {
  if ((await readRecord(layout, volume)) === undefined) return undefined;
  const { size } = await stat(imagePath(layout, volume));
  const text = await readIfThere(parametersPath(layout, volume));
  const parameters = text === undefined ? {} : parametersSchema.parse(JSON.parse(text));
  return { sizeBytes: size, parameters };
}

/** Throws NOT_FOUND. */
export async function neededProvisioned(layout: Layout, volume: string): Promise<Provisioned> {
  const there = await readProvisioned(layout, volume);
  if (there === undefined) throw new CallError(status.NOT_FOUND, `there is no volume ${volume}`);
  return there;
}

/** The caller has seen that there is no such volume; what a dead process left of one is made anew. */
export async function createProvisioned(
  layout: Layout,
  volume: string,
  { sizeBytes, parameters }: Provisioned,
): Promise<void> {
  await mkdir(volumeFolder(layout, volume), { recursive: true });
  await writeFile(imagePath(layout, volume), '');
  await truncate(imagePath(layout, volume), sizeBytes);
  await writeFile(parametersPath(layout, volume), JSON.stringify(parameters));
  const retired = await readIfThere(retiredPath(layout, volume));
  const record = newRecord();
  const nextGeneration = retired === undefined ? record.nextGeneration : Number(retired);
  await writeRecord(layout, volume, { ...record, nextGeneration });
}

/** Idempotent. The caller has seen that nobody uses the volume. */
export async function removeProvisioned(layout: Layout, volume: string): Promise<void> {
  const record = await readRecord(layout, volume);
  if (record !== undefined) {
    // The array never un-cuts a generation, so none may come back under the volume's name.
    await mkdir(dirname(retiredPath(layout, volume)), { recursive: true });
    await writeWhole(retiredPath(layout, volume), String(record.nextGeneration));
    await rm(recordPath(layout, volume));
  }
  await rm(volumeFolder(layout, volume), { recursive: true, force: true });
}

/** Never smaller: the caller has compared. */
export const growImage = (layout: Layout, volume: string, sizeBytes: number): Promise<void> =>
  truncate(imagePath(layout, volume), sizeBytes);
