/** Frees the engine of images that were built here and that nothing asks for any more. */
import { $ } from '../engine/shell.ts';
import { listImages, removeImage } from '../engine/commands.ts';
import { partLabel } from './part.ts';

/** Parts made anew with each change of this project; the others change with a version. */
const changing = ['node-with-driver', 'driver', 'array'] as const;

/** Keeps the newest image of each of these parts, and what a container uses. Resolves to the rest. */
export async function pruneImages(parts: readonly string[] = changing): Promise<string[]> {
  const removed: string[] = [];
  for (const part of parts) {
    for (const ref of await olderImages(part)) {
      const { exitCode } = await $({ nothrow: true, quiet: true })`${removeImage(ref)}`;
      if (exitCode === 0) removed.push(ref);
    }
  }
  return removed;
}

async function olderImages(part: string): Promise<string[]> {
  const asked = $({ nothrow: true, quiet: true });
  const list = listImages('--filter', `label=${partLabel}=${part}`);
  const { stdout } = await asked`${list}`;
  // The engine names the newest first.
  return stdout
    .split('\n')
    .filter((ref) => ref !== '' && !ref.includes('<none>'))
    .slice(1);
}
