/**
 * The array's container: the disk's data path, one for each cluster. It runs beside the nodes and
 * not in them, so that it survives their death as a real storage array does.
 */
import { docker, inspect } from './engine.ts';
import { sharedDir } from './kind-config.ts';
import { waitFor } from './wait.ts';

export interface ArrayOptions {
  readonly container: string;
  readonly image: string;
  /** The cluster's volume: the disks' images lie in it, and the array's socket. */
  readonly volume: string;
  /** `--label k=v …` of the cluster. */
  readonly labels: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

/** Starts it and resolves once it answers. */
export async function startArray(options: ArrayOptions): Promise<void> {
  const { container, image, volume, labels, signal } = options;
  const place = ['--name', container, '--hostname', container, '--network', 'none'];
  // Its mount points lie in /tmp, which an image of one program does not have.
  const files = ['--tmpfs', '/tmp', '--volume', `${volume}:${sharedDir}`];
  const flags = [...place, '--privileged', ...files, ...labels];
  await docker(['run', '--detach', ...flags, image, 'serve', '--root', sharedDir], { signal });
  const command = `docker logs ${container}`;
  await waitFor({ what: 'the array answers', timeoutMs: 30_000, signal, command }, async () => {
    const said = await docker(['logs', container]);
    return said.includes('listening') || `it says: ${said || 'nothing'}`;
  });
}

interface Inspected {
  readonly Image: string;
  readonly State: { readonly Status: string };
}

/** Starts it anew where it died or runs another image than `imageId`; paths it served are gone. */
export async function ensureArray(
  options: ArrayOptions,
  imageId: string | undefined,
): Promise<void> {
  const [found] = (await inspect('container', [options.container])) as Inspected[];
  if (found?.State.Status === 'running' && found.Image === imageId) return;
  if (found !== undefined) await docker(['rm', '--force', options.container]);
  await startArray(options);
}
