/** A folder on a file system of its own, in memory, that a test may fill. Needs root. */
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { $ } from '../../lib/kind/engine/shell.ts';

const sizeMib = 64;

export interface SmallFolder extends AsyncDisposable {
  readonly path: string;
  /** From now on that much room is left, bytes; 0: not one byte can be written. */
  leave(bytes: number): void;
  /** Gives the room back. */
  free(): void;
}

export async function smallFolder(): Promise<SmallFolder> {
  const path = mkdtempSync(join(tmpdir(), 'fd-small-'));
  await $({ quiet: true })`mount -t tmpfs -o size=${sizeMib}m,mode=0700 tmpfs ${path}`;
  const ballast = join(path, 'ballast');
  return {
    path,
    leave(bytes) {
      const { bavail, bsize } = statfsSync(path);
      try {
        writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - bytes)));
      } catch (error) {
        // The run wrote meanwhile: then there is no room at all, sooner.
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
      }
    },
    free: () => rmSync(ballast, { force: true }),
    async [Symbol.asyncDispose]() {
      await $({ quiet: true })`umount --lazy ${path}`;
      rmSync(path, { recursive: true });
    },
  };
}
