/** Frees the engine of images that were built here and that nothing asks for any more. */
import { $ } from 'zx';
import { partLabel } from './part.ts';

/** Parts made anew with each change of this project; the others change with a version. */
const changing = ['driver', 'array'] as const;

/** Keeps the newest image of each of these parts, and what a container uses. Resolves to the rest. */
export async function pruneImages(parts: readonly string[] = changing): Promise<string[]> {
  const removed: string[] = [];
  for (const part of parts) {
    for (const ref of await olderImages(part)) {
      const { exitCode } = await $({ nothrow: true, quiet: true })`docker image rm ${ref}`;
      if (exitCode === 0) removed.push(ref);
    }
  }
  return removed;
}

async function olderImages(part: string): Promise<string[]> {
  const format = '{{.Repository}}:{{.Tag}}';
  const filter = `label=${partLabel}=${part}`;
  const asked = $({ nothrow: true, quiet: true });
  const { stdout } = await asked`docker image ls --filter ${filter} --format ${format}`;
  // The engine names the newest first.
  return stdout
    .split('\n')
    .filter((ref) => ref !== '' && !ref.includes('<none>'))
    .slice(1);
}
