/** Volumes as experiments make and remove them, apart from Kubernetes' provisioning. */
import { mkdir, stat } from 'node:fs/promises';
import { InfrastructureError } from '../errors.ts';
import { filesPath, imagePath, volumeFolder } from './layout.ts';
import { type StorageBackend, livePaths } from './paths.ts';
import { createProvisioned, readProvisioned, removeProvisioned } from './provisioned.ts';
import { locked } from './record-store.ts';
import { closePaths } from './release.ts';

export interface NewVolume {
  readonly volume: string;
  readonly sizeBytes: number;
  /** A directory that nodes share; its image then says the size and nothing else. */
  readonly shared: boolean;
}

/** A blank volume; resolves to its path. VOLUME_EXISTS where there is one of that name. */
export async function createVolume(
  { layout }: StorageBackend,
  options: NewVolume,
): Promise<string> {
  const { volume, sizeBytes, shared } = options;
  await locked(layout, async () => {
    if ((await readProvisioned(layout, volume)) !== undefined) {
      throw new InfrastructureError('VOLUME_EXISTS', `there is a volume ${volume} already`);
    }
    if (shared) await mkdir(filesPath(layout, volume), { recursive: true });
    await createProvisioned(layout, volume, { sizeBytes, parameters: {} });
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
  await locked(layout, () => removeProvisioned(layout, volume));
  return [...freed, ...broken.map(({ device }) => device)];
}
