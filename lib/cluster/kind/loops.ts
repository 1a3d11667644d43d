/**
 * Loop devices that a cluster left on the machine. They belong to the kernel: they outlive killed
 * nodes and deleted containers, so they are taken back by number and by the file behind them.
 */
import { readdir, readFile } from 'node:fs/promises';
import { docker } from './engine.ts';
import { sharedDir } from './kind-config.ts';
import type { Lease } from './lease.ts';

/** Numbers of the loop devices in the lease that the kernel has now. */
export async function leasedLoops(
  { loops: { first, count } }: Pick<Lease, 'loops'>,
  sysBlock = '/sys/block',
): Promise<number[]> {
  return (await readdir(sysBlock))
    .flatMap((name) => /^loop(\d+)$/.exec(name)?.[1] ?? [])
    .map(Number)
    .filter((number) => number >= first && number < first + count)
    .toSorted((a, b) => a - b);
}

/**
 * Takes the lease's loop devices back. All containers of the cluster must be gone, since a mount
 * holds its device. Resolves to those that stay, each with the reason.
 */
export async function releaseLoops(
  lease: Pick<Lease, 'loops'>,
  volume: string,
  tools: string,
): Promise<string[]> {
  if ((await leasedLoops(lease)).length === 0) return [];
  const script = await readFile(new URL('release-loops.sh', import.meta.url), 'utf8');
  const { first, count } = lease.loops;
  const range = [String(first), String(first + count - 1)];
  const flags = ['--rm', '--privileged', '--network', 'none', '--volume', `${volume}:${sharedDir}`];
  const command = ['-c', script, 'release-loops', sharedDir, ...range];
  const left = await docker(['run', ...flags, '--entrypoint', 'sh', tools, ...command]);
  return left.split('\n').filter((line) => line !== '');
}
