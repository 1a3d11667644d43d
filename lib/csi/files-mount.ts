/**
 * Mounts a shared directory with a lock table of its own, as NFS mounted with `nolock`: the file
 * system passes everything through but locks, which the kernel then keeps per mount.
 */
import { spawn } from 'node:child_process';
import { access, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { InfrastructureError } from '../errors.ts';
import type { Layout } from './layout.ts';
import { mountAt } from './mounts.ts';

/** The array's program puts a copy of itself there: the nodes' images do not have it. */
const programPath = ({ root }: Layout): string => join(root, 'bin', 'forcedetach-array');
const patienceMs = 5000;

/** Its process lives for as long as the mount, and ends with the driver's pod, as FUSE's do. */
export async function mountFiles(layout: Layout, files: string, target: string): Promise<void> {
  const program = programPath(layout);
  await access(program).catch((error: unknown) => {
    throw new InfrastructureError('NO_FILES_PROGRAM', `${program} is not there`, { cause: error });
  });
  await mkdir(target, { recursive: true });
  const args = ['files', '--root', files, '--mount', target];
  const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'], detached: true });
  const failed = new Promise<never>((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new TypeError(`it ended with exit code ${code}`)));
  });
  try {
    await Promise.race([failed, mounted(target)]);
  } catch (error) {
    child.kill('SIGTERM');
    const command = [program, ...args].join(' ');
    throw new InfrastructureError('FILES_NOT_MOUNTED', `${files} could not be mounted`, {
      command,
      cause: error,
    });
  }
  failed.catch(() => undefined);
  child.unref();
}

async function mounted(target: string): Promise<void> {
  const giveUpAt = performance.now() + patienceMs;
  while ((await mountAt(target)) === undefined) {
    if (performance.now() > giveUpAt) throw new TypeError(`no mount within ${patienceMs} ms`);
    await sleep(20);
  }
}
