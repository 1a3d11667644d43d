/** Copies a volume as it is at one moment, while its writers are frozen. */
import { mkdir, rename, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { EvidenceError } from '../errors.ts';
import { writtenSoFar } from './backend.ts';
import { copyPath, imagePath, type Layout } from './layout.ts';
import { must } from './run.ts';

export interface Copied {
  readonly path: string;
  /** Copies begun until no device wrote meanwhile. */
  readonly attempts: number;
}

/** The kernel writes back every 5 s (dirty_writeback_centisecs, ext4's commit): enough for a gap. */
const attemptLimit = 20;
const pauseMs = 250;

/**
 * A frozen node's kernel threads still write back. A copy counts only where no device of the volume
 * wrote while it was made; otherwise it mixes two moments and would be damaged by the copying.
 */
export async function copyVolume(layout: Layout, volume: string, label: string): Promise<Copied> {
  const path = copyPath(layout, label);
  const fresh = `${path}.new`;
  await mkdir(layout.copies, { recursive: true });
  for (let attempts = 1; attempts <= attemptLimit; attempts += 1) {
    const before = await writtenSoFar(layout, volume);
    await must('cp', '--sparse=always', imagePath(layout, volume), fresh);
    const after = await writtenSoFar(layout, volume);
    if (JSON.stringify(before) === JSON.stringify(after)) {
      await rename(fresh, path);
      return { path, attempts };
    }
    await sleep(pauseMs);
  }
  await rm(fresh, { force: true });
  throw new EvidenceError('COPY_DISTURBED', `${volume} was written during each of its copies`, {
    hint: 'Freeze every node that has it mounted before it is copied.',
  });
}
